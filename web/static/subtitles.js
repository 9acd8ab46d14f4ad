// The speech subtitles over the picture: the current cue, the one before it, and what was said.

const MOST_CUES = 64;
const STAYS_MS = 7_000; // a final line goes after so long without a new one

/** Keeps the newest revision of each cue; `element` ids are those of room.html. */
export class Subtitles {
  #cues = new Map(); // id → newest frame, oldest first
  #timer = 0;
  #spoken = ""; // what screen readers were told last
  #earlier; #current; #original; #said; #box;

  constructor(root) {
    this.#box = root.getElementById("subtitles");
    this.#earlier = root.getElementById("earlier");
    this.#current = root.getElementById("current");
    this.#original = root.getElementById("original");
    this.#said = root.getElementById("said");
  }

  cue(frame) {
    const known = this.#cues.get(frame.id);
    if (known && known.revision > frame.revision) return;
    this.#cues.set(frame.id, frame);
    if (this.#cues.size > MOST_CUES) this.#cues.delete(this.#cues.keys().next().value);
    this.#draw();
    if (frame.final && frame.text && frame.id !== this.#spoken) this.#speak(frame);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#box.classList.add("quiet"), frame.final ? STAYS_MS : 2 * STAYS_MS);
  }

  retract(id) {
    if (this.#cues.delete(id)) this.#draw();
  }

  clear() {
    this.#cues.clear();
    clearTimeout(this.#timer);
    this.#draw();
  }

  #draw() {
    const inOrder = [...this.#cues.values()]; // as they were first seen: stream times begin anew with a new broadcast
    const newest = inOrder.at(-1);
    const shown = inOrder.filter((cue) => cue.text);
    const current = shown.at(-1);
    const earlier = shown.at(-2);
    this.#box.classList.remove("quiet");
    write(this.#current, current?.text ?? "", current?.lang);
    this.#current.classList.toggle("partial", Boolean(current && !current.final));
    write(this.#earlier, earlier && current.start - earlier.end < 4 ? earlier.text : "", earlier?.lang);
    const original = newest && newest.source_text !== newest.text ? newest.source_text : "";
    write(this.#original, original, newest?.source_lang);
    this.#original.classList.toggle("partial", Boolean(newest && !newest.final));
  }

  #speak(frame) {
    this.#spoken = frame.id;
    write(this.#said, frame.text, frame.lang);
  }
}

/** Text only, in its language, so that Han glyphs are the right region's and lines break rightly. */
export function write(element, text, lang) {
  if (element.textContent !== text) element.textContent = text;
  if (lang) element.lang = lang;
}
