// The speech subtitles over the picture: the current cue, the one before it, and what was said.

import { Reading } from "./reading.js";

/** Draws what the reading mode lets be seen; element ids are those of room.html. */
export class Subtitles {
  #reading;
  #timer = 0;
  #spoken = ""; // what screen readers were told last
  #earlier; #current; #original; #said; #box;

  constructor(root, mode) {
    this.#reading = new Reading(() => performance.now(), mode);
    this.#box = root.getElementById("subtitles");
    this.#earlier = root.getElementById("earlier");
    this.#current = root.getElementById("current");
    this.#original = root.getElementById("original");
    this.#said = root.getElementById("said");
    this.#draw();
  }

  choose(mode) {
    this.#reading.choose(mode);
    this.#draw();
  }

  readAt(speed) {
    this.#reading.readAt(speed);
  }

  cue(frame) {
    this.#reading.cue(frame);
    this.#draw();
    if (frame.final && frame.text && frame.id !== this.#spoken) this.#speak(frame);
  }

  retract(id) {
    this.#reading.retract(id);
    this.#draw();
  }

  clear() {
    this.#reading.clear();
    this.#draw();
  }

  #draw() {
    clearTimeout(this.#timer);
    const { quiet, current, earlier, original, again } = this.#reading.look();
    this.#box.classList.toggle("quiet", quiet);
    if (!quiet) { // what fades keeps its text
      write(this.#current, current.text, current.lang);
      this.#current.classList.toggle("partial", !current.final);
      write(this.#earlier, earlier.text, earlier.lang);
      write(this.#original, original.text, original.lang);
      this.#original.classList.toggle("partial", !original.final);
    }
    const { takenBack, shown } = this.#reading.figures;
    this.#box.dataset.takenBack = String(takenBack);
    this.#box.dataset.shown = shown.join(" ");
    if (again < Infinity) this.#timer = setTimeout(() => this.#draw(), Math.ceil(again));
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
