// The list of comments: newest last, each one's original on demand, never more than 200.

import { write } from "./subtitles.js";

const MOST = 200;
const HUES = 12;

export class Comments {
  #list; #newest; #empty;
  #rows = new Map(); // id → {row, revision}
  #following = true;

  constructor(root) {
    this.#list = root.getElementById("comments");
    this.#newest = root.getElementById("newest");
    this.#empty = root.getElementById("empty");
    this.#list.addEventListener("click", ({ target }) => {
      if (target.matches(".original-of")) open(target.parentElement, target.getAttribute("aria-expanded") !== "true");
    });
    this.#list.addEventListener("scroll", () => this.#look(), { passive: true });
    this.#newest.addEventListener("click", () => this.#follow());
    new ResizeObserver(() => this.#following && this.#follow()).observe(this.#list);
  }

  cue(frame) {
    const known = this.#rows.get(frame.id);
    if (known && known.revision > frame.revision) return;
    const row = known?.row ?? this.#add(frame.id);
    this.#rows.set(frame.id, { row, revision: frame.revision });
    fill(row, frame);
    if (this.#following) this.#follow();
    else this.#newest.hidden = false;
  }

  retract(id) {
    this.#rows.get(id)?.row.remove();
    this.#rows.delete(id);
  }

  clear() {
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#empty.hidden = false;
    this.#follow();
  }

  #add(id) {
    const row = document.createElement("li");
    row.append(part("span", "author"), part("span", "text"), part("span", "count"), part("button", "original-of"), part("span", "source"));
    open(row, false);
    this.#list.append(row);
    this.#empty.hidden = true;
    if (this.#rows.size >= MOST) this.retract(this.#rows.keys().next().value);
    return row;
  }

  #look() {
    const { scrollTop, scrollHeight, clientHeight } = this.#list;
    this.#following = scrollHeight - scrollTop - clientHeight < 40;
    if (this.#following) this.#newest.hidden = true;
  }

  #follow() {
    this.#following = true;
    this.#newest.hidden = true;
    this.#list.scrollTop = this.#list.scrollHeight;
  }
}

function fill(row, frame) {
  const [author, text, count, button, source] = row.children;
  const pending = !frame.text;
  write(author, frame.author ?? "");
  author.hidden = !frame.author;
  author.dataset.hue = String(hue(frame.author ?? ""));
  write(text, frame.text || frame.source_text, pending ? frame.source_lang : frame.lang);
  count.hidden = !(frame.count > 1);
  count.textContent = frame.count > 1 ? `×${frame.count}` : "";
  row.classList.toggle("pending", pending);
  const asWritten = (frame.flags ?? []).includes("untranslated");
  row.classList.toggle("as-written", asWritten);
  text.title = asWritten ? `Not translated: ${(frame.reason ?? "").replaceAll("_", " ")}` : "";
  const translated = !pending && frame.text !== frame.source_text;
  write(source, translated ? frame.source_text : "", frame.source_lang);
  button.hidden = !translated;
  button.textContent = frame.source_lang;
  if (!translated) open(row, false);
}

function open(row, shown) {
  row.querySelector(".original-of").setAttribute("aria-expanded", String(shown));
  row.querySelector(".source").hidden = !shown;
}

function part(tag, name) {
  const element = document.createElement(tag);
  if (tag === "button") Object.assign(element, { type: "button", title: "Original", ariaLabel: "Original" });
  element.className = name;
  element.dir = "auto";
  return element;
}

function hue(name) {
  let sum = 7;
  for (const sign of name) sum = (sum * 31 + sign.codePointAt(0)) % 9973;
  return sum % HUES;
}
