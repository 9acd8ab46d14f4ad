// The subtitle connection: WebSocket, or server-sent events where WebSocket fails twice; resumes after a loss.

const PING_MS = 10_000;
const SILENT_MS = 35_000; // three pings without an answer: the line is dead even if nobody said so
const CONNECT_MS = 8_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const NOT_AGAIN = 4500; // close codes from here on: trying again does not help

/** Milliseconds before the n-th try (from 0): doubling to 15 s, of which chance picks 50 to 100%. */
export function retryWait(attempt, chance = Math.random()) {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10)) * (0.5 + chance / 2);
}

/** The server's clock against ours, from the quickest of the last eight round trips. */
export class ClockOffset {
  #trips = [];

  hello(serverMs, nowMs) {
    if (this.#trips.length === 0) this.#trips.push([Infinity, serverMs - nowMs]);
  }

  pong(sentMs, serverMs, nowMs) {
    const trip = Math.max(0, nowMs - sentMs);
    this.#trips.push([trip, serverMs - (sentMs + trip / 2)]);
    if (this.#trips.length > 8) this.#trips.shift();
  }

  serverNow(nowMs) {
    const best = this.#trips.reduce((a, b) => (b[0] < a[0] ? b : a), [Infinity, this.#trips[0]?.[1] ?? 0]);
    return nowMs + best[1];
  }
}

/**
 * One room in one language. `listener` has frame(frame), status("connecting" | "open" | "lost") and
 * refused({code, detail}). Nothing is said after close().
 */
export class Connection {
  #room; #lang; #token; #listener;
  #place = null; // {epoch, seq} of the last frame seen
  #attempt = 0;
  #failures = 0; // WebSocket tries in a row that brought no hello
  #line = null; // the open WebSocket or EventSource
  #timers = new Set();
  #closed = false;
  #heardAt = 0;
  clock = new ClockOffset();

  constructor({ room, lang, token, listener }) {
    this.#room = room;
    this.#lang = lang;
    this.#token = token;
    this.#listener = listener;
    addEventListener("online", this.#retryNow);
    this.#open();
  }

  close() {
    this.#closed = true;
    removeEventListener("online", this.#retryNow);
    this.#drop();
  }

  #url(scheme) {
    const url = new URL(`/v1/rooms/${encodeURIComponent(this.#room)}/subtitles`, location.href);
    if (scheme === "ws") url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("lang", this.#lang);
    if (this.#token) url.searchParams.set("token", this.#token);
    if (this.#place) url.searchParams.set("resume_from", `${this.#place.epoch}:${this.#place.seq}`);
    return url;
  }

  #open() {
    this.#listener.status("connecting");
    if (this.#failures < 2 || this.#failures % 4 === 0) this.#openSocket();
    else this.#openEvents();
  }

  #openSocket() {
    const socket = new WebSocket(this.#url("ws"));
    this.#line = socket;
    this.#after(CONNECT_MS, () => socket.readyState === WebSocket.CONNECTING && socket.close());
    const ping = () => {
      if (performance.now() - this.#heardAt > SILENT_MS) return socket.close();
      socket.send(JSON.stringify({ type: "ping", client_time_ms: performance.now() }));
    };
    socket.onopen = () => {
      this.#heardAt = performance.now();
      ping();
      this.#every(PING_MS, ping);
    };
    socket.onmessage = (event) => this.#hear(event.data);
    socket.onclose = (event) => {
      if (this.#line !== socket) return;
      if (event.code >= NOT_AGAIN) this.#refuse({ code: event.reason || String(event.code), detail: "" });
      else this.#lost();
    };
  }

  #openEvents() {
    const events = new EventSource(this.#url("http"));
    this.#line = events;
    events.onmessage = (event) => this.#hear(event.data);
    events.onerror = () => {
      if (this.#line === events) this.#lost(); // we come back ourselves, from the place we know
    };
  }

  #hear(text) {
    this.#heardAt = performance.now();
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    switch (frame.type) {
      case "hello":
        this.#attempt = 0;
        this.#failures = this.#line instanceof WebSocket ? 0 : this.#failures;
        this.clock.hello(frame.server_time_ms, performance.now());
        if (this.#place?.epoch !== frame.epoch) this.#place = { epoch: frame.epoch, seq: frame.seq };
        this.#listener.status("open");
        break;
      case "cue":
      case "cue.retract":
        if (this.#place) this.#place.seq = Math.max(this.#place.seq, frame.seq);
        break;
      case "gap":
        this.#place = { epoch: frame.epoch, seq: frame.next_seq - 1 };
        break;
      case "pong":
        this.clock.pong(frame.client_time_ms, frame.server_time_ms, performance.now());
        return;
      case "error":
        if (!frame.reconnect) this.#refuse(frame);
        return;
    }
    this.#listener.frame(frame);
  }

  async #lost() {
    this.#drop();
    if (this.#closed) return;
    this.#failures += 1;
    this.#listener.status("lost");
    const reason = await this.#explain();
    if (this.#closed) return;
    if (reason) this.#refuse(reason);
    else this.#after(retryWait(this.#attempt++), () => this.#open());
  }

  /** A browser does not tell why a handshake was refused; the same question over HTTP does. */
  async #explain() {
    try {
      const asked = new AbortController();
      const timer = setTimeout(() => asked.abort(), 5_000);
      const answer = await fetch(this.#url("http"), { headers: { accept: "text/event-stream" }, signal: asked.signal });
      const refused = answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 408;
      const problem = refused ? await answer.json() : null;
      clearTimeout(timer);
      asked.abort();
      return problem;
    } catch {
      return null; // not reachable: try again later
    }
  }

  #refuse(reason) {
    this.close();
    this.#listener.refused(reason);
  }

  #drop() {
    const line = this.#line;
    this.#line = null;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    line?.close();
  }

  #retryNow = () => {
    if (this.#line || this.#closed) return;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#open();
  };

  #after(ms, act) {
    this.#timers.add(setTimeout(act, ms));
  }

  #every(ms, act) {
    this.#timers.add(setInterval(act, ms));
  }
}
