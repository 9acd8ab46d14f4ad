// How the speech subtitles are read: which cue is on the main line, with which of its texts, and until when.
// It knows no page and sets no timer: frames go in, look() says what is to be seen and when to look again.

/** Each revision as it comes; fewer rewrites, and time to read what is finished; finished subtitles only. */
export const MODES = ["fast", "steady", "finished"];

const REWRITE_MS = 800; // steady: an unfinished text is rewritten no more often
const MOST_WAITING = 2; // with so many newer ones the next is shown at once
const MOST_BEHIND_MS = 4_000;
const STAYS_MS = 7_000; // the last finished subtitle goes after so long without a new one
const MOST_CUES = 64;
const MOST_COUNTED = 256;
const WITHOUT_SPACES = new Set(["zh", "yue", "ja", "th", "km", "lo", "my"]); // counted by characters
const NOTHING = { text: "", lang: "", final: true };

/** One reader's view of one language; `clock` gives milliseconds that only grow. */
export class Reading {
  #clock; #mode;
  #speed = { characters_per_s: 17, least_s: 0.83 };
  #cues = new Map(); // id → cue, as they were first seen: stream times begin anew with a new broadcast
  #main = null; // the cue on the main line
  #stirred = 0; // when something to be seen last came
  #again = Infinity; // the next time at which look() may say something else
  #takenBack = 0;
  #shown = [];

  constructor(clock, mode = "steady") {
    this.#clock = clock;
    this.#mode = mode;
  }

  /**
   * Words (characters where a language has no spaces) of translations shown and taken back, by a change of what
   * stands before them, too; and how many milliseconds each finished text was on the main line, newest last.
   */
  get figures() {
    return { takenBack: this.#takenBack, shown: [...this.#shown] };
  }

  /** The figures begin anew, so that they are of one mode. */
  choose(mode) {
    this.#mode = mode;
    this.#forgetFigures();
    if (this.#main && !this.#mayShow(this.#main)) this.#withdraw(this.#main);
  }

  /** How long finished subtitles are to be seen, as the server's hello has it. */
  readAt(speed) {
    this.#speed = speed;
  }

  cue(frame) {
    const known = this.#cues.get(frame.id);
    if (known && known.frame.revision > frame.revision) return;
    const cue = known ?? this.#add(frame);
    // One that went while it was unfinished comes back where nothing else is there.
    if (!this.#main && !cue.frame.final && cue === this.#newest()) cue.passed = false;
    cue.frame = { ...frame, text: frame.text || (frame.final ? "" : cue.frame.text) };
    if (frame.final && cue.passed && cue !== this.#main) this.#count(cue, 0);
    if (this.#mayShow(cue)) this.#stirred = this.#clock();
  }

  retract(id) {
    const cue = this.#cues.get(id);
    if (!cue) return;
    this.#takenBack += units(cue.lines.text.text, cue.frame.lang).length;
    if (cue === this.#main) this.#withdraw(cue);
    this.#cues.delete(id);
  }

  /** Another language: nothing is left, and the figures begin anew. */
  clear() {
    this.#cues.clear();
    this.#main = null;
    this.#forgetFigures();
  }

  /**
   * What is to be seen now: the lines `current`, `earlier` and `original`, each {text, lang, final}, or `quiet`: all
   * of them fade. `again`: in how many milliseconds to look again if no frame comes; Infinity if then only.
   */
  look() {
    const now = this.#clock();
    this.#again = Infinity;
    this.#move(now);
    if (this.#isQuiet(now)) {
      this.#leave(now);
      return { quiet: true, again: Infinity };
    }
    const current = this.#line(this.#main, "text", now);
    const earlier = this.#line(this.#before(this.#main), "text", now);
    const original = this.#original(now);
    return { quiet: false, current, earlier, original, again: this.#again - now };
  }

  /** Put the next cue on the main line, or several after one another, unless that there is still to be read. */
  #move(now) {
    for (;;) {
      if (this.#main) this.#write(this.#main, "text", now);
      const waiting = this.#later().filter((cue) => cue.frame.text);
      for (const cue of waiting) cue.worded ??= now;
      if (!waiting.length || this.#isHeld(waiting[0].worded, waiting.length, now)) return;
      this.#leave(now);
      this.#main = waiting[0];
      for (const cue of this.#cues.values()) {
        if (cue === this.#main) break;
        cue.passed = true;
      }
    }
  }

  /** Whether the main line keeps its cue though others, the oldest of them since `since`, are newer. */
  #isHeld(since, waiting, now) {
    const main = this.#main;
    if (!main || main.counted || this.#mode === "fast") return false;
    if (waiting >= MOST_WAITING || this.#isDue(since + MOST_BEHIND_MS, now)) return false;
    return !main.frame.final || !this.#isDue(main.lines.text.since + this.#readingTime(main.frame), now);
  }

  /** What was said: of the main line's cue while that is held, otherwise of the newest, which may have no text yet. */
  #original(now) {
    const later = this.#later();
    for (const cue of later) cue.heard ??= now;
    const held = later.length === 0 || this.#isHeld(later[0].heard, 0, now);
    const cue = held ? this.#main : later.at(-1);
    const line = this.#line(cue, "source_text", now);
    return cue?.frame.source_text === cue?.frame.text ? NOTHING : line;
  }

  #isQuiet(now) {
    const newest = this.#later().at(-1) ?? this.#main;
    if (!newest) return this.#cues.size > 0 && this.#isDue(this.#stirred + STAYS_MS, now);
    if (newest !== this.#main && newest.frame.text) return false;
    const since = Math.max(this.#stirred, this.#main?.lines.text.since ?? 0);
    const stays = newest.frame.final ? Math.max(STAYS_MS, this.#readingTime(newest.frame)) : 2 * STAYS_MS;
    return this.#isDue(since + stays, now);
  }

  #line(cue, kind, now) {
    if (!cue) return NOTHING;
    this.#write(cue, kind, now);
    const { lang, source_lang, final } = cue.frame;
    return { text: cue.lines[kind].text, lang: kind === "text" ? lang : source_lang, final };
  }

  /** Bring a line to its cue's newest text, if the mode lets it. */
  #write(cue, kind, now) {
    const line = cue.lines[kind];
    const text = cue.frame[kind] ?? "";
    const lang = kind === "text" ? cue.frame.lang : cue.frame.source_lang;
    if (text === line.text) return;
    if (this.#mode === "steady" && line.text && !cue.frame.final) {
      if (onlyTakesBack(line.text, text, lang) || !this.#isDue(line.since + REWRITE_MS, now)) return;
    }
    if (kind === "text") this.#takenBack += takenBack(line.text, text, lang);
    line.text = text;
    line.since = now;
  }

  #leave(now) {
    const main = this.#main;
    if (!main) return;
    main.passed = true;
    if (main.frame.final) this.#count(main, now - main.lines.text.since);
    this.#main = null;
  }

  /** The one before it comes back; what was newer than that comes at once. */
  #withdraw(main) {
    this.#main = this.#before(main);
    main.lines = lines();
  }

  #count(cue, ms) {
    if (cue.counted) return;
    cue.counted = true;
    this.#shown.push(Math.round(ms));
    if (this.#shown.length > MOST_COUNTED) this.#shown.shift();
  }

  #forgetFigures() {
    this.#takenBack = 0;
    this.#shown = [];
  }

  #add(frame) {
    const cue = { frame, lines: lines(), heard: null, worded: null, passed: false, counted: false };
    this.#cues.set(frame.id, cue);
    if (this.#cues.size > MOST_CUES) this.#cues.delete(this.#cues.keys().next().value);
    return cue;
  }

  #mayShow(cue) {
    return this.#mode !== "finished" || cue.frame.final;
  }

  /** Those that were not on the main line yet. */
  #later() {
    return [...this.#cues.values()].filter((cue) => cue !== this.#main && !cue.passed && this.#mayShow(cue));
  }

  /** The one shown above a cue: that said just before it. */
  #before(cue) {
    let last = null;
    for (const one of this.#cues.values()) {
      if (one === cue) return last && cue.frame.start - last.frame.end >= 4 ? null : last;
      if (one.frame.text && this.#mayShow(one)) last = one;
    }
    return null;
  }

  #newest() {
    return [...this.#cues.values()].at(-1);
  }

  /** How many milliseconds a finished text is to be seen. */
  #readingTime({ text }) {
    return 1000 * Math.max(this.#speed.least_s, [...text].length / this.#speed.characters_per_s);
  }

  #isDue(at, now) {
    if (now >= at) return true;
    this.#again = Math.min(this.#again, at);
    return false;
  }
}

/** How much of what was shown no longer stands where it stood; signs and capitals don't count. */
function takenBack(shown, text, lang) {
  const before = units(shown, lang);
  return before.length - shared(before, units(text, lang));
}

/** Nothing new comes with it, and at least the first half stays as it was. */
function onlyTakesBack(shown, text, lang) {
  const before = units(shown, lang);
  const after = units(text, lang);
  return after.length <= before.length && shared(before, after) * 2 >= before.length;
}

function units(text, lang) {
  const parts = text.toLowerCase().split(WITHOUT_SPACES.has(family(lang)) ? "" : /\s+/u);
  return parts.map((part) => part.replace(/[\p{P}\s]/gu, "")).filter(Boolean);
}

function shared(before, after) {
  const at = before.findIndex((unit, place) => unit !== after[place]);
  return at < 0 ? before.length : at;
}

function family(lang) {
  return (lang ?? "").split("-")[0];
}

function lines() {
  return { text: { text: "", since: 0 }, source_text: { text: "", since: 0 } };
}
