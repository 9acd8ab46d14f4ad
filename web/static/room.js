// The viewer page of one room: address, choices that are remembered, and what goes where.

import { Comments } from "./comments.js";
import { Connection } from "./connection.js";
import { MODES } from "./reading.js";
import { Subtitles } from "./subtitles.js";

const element = (id) => document.getElementById(id);
const room = decodeURIComponent(location.pathname.split("/").filter(Boolean).at(-1) ?? "");
const token = takeToken();
const reading = element("reading");
reading.value = firstReading();
const subtitles = new Subtitles(document, reading.value);
const comments = new Comments(document);
const picker = element("language");
let connection = null;
let lang = firstLanguage();

/** The token comes in the fragment or the query, is kept for this tab, and leaves the address bar. */
function takeToken() {
  const url = new URL(location.href);
  const given = new URLSearchParams(url.hash.slice(1)).get("token") ?? url.searchParams.get("token");
  const key = `sampan.token.${room}`;
  if (given) {
    sessionStorage.setItem(key, given);
    url.hash = "";
    url.searchParams.delete("token");
    history.replaceState(null, "", url);
  }
  return given ?? sessionStorage.getItem(key);
}

function firstLanguage() {
  return new URL(location.href).searchParams.get("lang") ?? localStorage.getItem("sampan.lang") ?? navigator.language;
}

function firstReading() {
  const chosen = localStorage.getItem("sampan.reading");
  return MODES.includes(chosen) ? chosen : "steady";
}

function remember(chosen) {
  localStorage.setItem("sampan.lang", chosen);
  const url = new URL(location.href);
  url.searchParams.set("lang", chosen);
  history.replaceState(null, "", url);
}

function connect() {
  connection?.close();
  connection = new Connection({ room, lang, token, listener: { frame, status, refused } });
}

function frame(received) {
  switch (received.type) {
    case "hello":
      return hello(received);
    case "cue":
      if (received.kind === "speech") {
        subtitles.cue(received);
      } else comments.cue(received);
      return latency(received);
    case "cue.retract":
      subtitles.retract(received.id);
      return comments.retract(received.id);
    case "state":
      return state(received);
  }
}

function hello({ lang: agreed, languages, reading: speed }) {
  lang = agreed;
  subtitles.readAt(speed);
  picker.replaceChildren(
    ...languages.map(({ lang: tag, name }) => {
      const option = new Option(name, tag, false, tag === agreed);
      option.lang = tag;
      return option;
    }),
  );
  picker.disabled = false;
  remember(agreed);
}

function status(now) {
  document.body.dataset.connection = now;
  if (now === "open") note("");
  if (now === "lost") note("Connection lost. Coming back…");
}

function refused({ code, detail }) {
  if (code === "unknown_language" && lang !== "en") {
    lang = "en";
    connect();
    return;
  }
  document.body.dataset.connection = "refused";
  const known = {
    bad_token: "This page needs a valid link. Ask the host for a new one.",
    revoked_token: "This link was withdrawn. Ask the host for a new one.",
    forbidden: "This link is for another room.",
    unknown_room: "This room is not open.",
  };
  note(known[code] ?? (detail || "The server refused the connection."));
}

function note(text) {
  element("note").textContent = text;
  element("note").hidden = !text;
}

function state({ ingest, load }) {
  const shown = ingest !== "live" ? "idle" : load === "strained" ? "strained" : "live";
  element("live").dataset.state = shown;
  element("live").title = shown === "strained" ? "The server is busy: subtitles come in fewer steps." : "";
  element("live-text").textContent = { idle: "Waiting", live: "Live", strained: "Live, busy" }[shown];
}

/** From the end of the sound, or from the comment's sending, to this screen; replayed cues say nothing about it. */
function latency({ final, text, ledger }) {
  const since = ledger.captured ?? ledger.received;
  if (!since || !text || !final) return;
  const waited = connection.clock.serverNow(performance.now()) - since;
  if (waited < 0 || waited > 10_000) return;
  element("latency").textContent = `${(waited / 1000).toFixed(1)} s`;
}

function showOriginals(shown) {
  document.body.classList.toggle("originals", shown);
  element("originals").setAttribute("aria-pressed", String(shown));
  localStorage.setItem("sampan.originals", shown ? "yes" : "no");
}

picker.addEventListener("change", () => {
  lang = picker.value;
  remember(lang);
  subtitles.clear();
  comments.clear();
  connect();
});
reading.addEventListener("change", () => {
  localStorage.setItem("sampan.reading", reading.value);
  subtitles.choose(reading.value);
});
element("originals").addEventListener("click", () => showOriginals(!document.body.classList.contains("originals")));
element("room-name").textContent = room;
document.title = `${room} · Sampan`;
showOriginals(localStorage.getItem("sampan.originals") !== "no");
addEventListener("pagehide", () => connection?.close());
addEventListener("pageshow", (event) => event.persisted && connect());
connect();
