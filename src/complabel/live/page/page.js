// The page of `complabel annotate`: one question at a time, and keys.
//
// The server is asked by one loop, `work`, one request after another: first the answers that are
// not stored, in their order, then what is to be taken back, then questions ahead. So the server
// and the page agree on the order of questions. What people see never waits for it while there are
// questions in `line`.

import {
  count, drawCurve, element, goalOf, hintFor, isolated, naming, negative, nothing, orderOf, positive,
  prepare, sentence, single, wording,
} from "./drawing.js";

const address = new URLSearchParams(location.search);
let person = address.get("person")?.trim() ?? "";

const AHEAD = Number(address.get("ahead") ?? 3); // questions that wait behind the one shown
// Keys of the first labels of a list; the letters that are missing do something else. Of more
// labels there is a box to find one.
const KEYS = [..."1234567890bcdefghijklmpqrtvwxz"];
const ROOMY = 12; // labels; more of them stand closer to each other
const MOST_TOLD = 40; // labels of which it is shown what the features tell

const $ = (id) => document.getElementById(id);
const main = document.querySelector("main");
const KEPT = `complabel answer ${main.dataset.store} `; // before their ids in the browser's storage

let line = []; // questions that the server handed out; the first one is shown
const known = new Set(); // ids of all questions that were in `line`
const waiting = []; // answers that the server has not confirmed: {body, question, tried, last}
const times = []; // seconds of this sitting's answers
let undoing = false;
let ended = false; // the server has nothing beyond `line`
let working = false;
let retry; // the timer of the next try while the server is away
let pause = 1; // seconds before it
let soon = null; // the timer of the next look at the progress
let stored = 0; // answers of this sitting that the server confirmed
let heldUntil = 0; // when what is said may go

// ---------------------------------------------------------------------- the server

class Refused extends Error {
  constructor({ error, reload }, status) {
    super(error);
    this.status = status;
    this.reload = reload; // what this page shows is not so any more
  }
}

// Whether the server refuses what was sent. Else it would take it later, or with the right token.
function isAboutThis(error) {
  return error instanceof Refused && error.status < 500 && error.status !== 403;
}

async function call(route, query, body) {
  const { store } = main.dataset;
  const reply = await fetch(`${route}?${new URLSearchParams(body ? query : { ...query, store })}`, {
    method: body ? "POST" : "GET",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify({ ...body, store }),
    signal: AbortSignal.timeout(15_000),
  });
  if (reply.status === 204) return null;
  const said = await reply.json();
  if (!reply.ok) throw new Refused(said, reply.status);
  return said;
}

async function work() {
  if (working || !person) return;
  working = true;
  clearTimeout(retry);
  try {
    for (;;) {
      if (waiting.length) await sendFirst();
      else if (undoing) await takeBack();
      else if (line.length <= AHEAD && !ended) await fetchNext();
      else break;
      isBack();
    }
  } catch (error) {
    failed(error);
  }
  working = false;
}

async function sendFirst() {
  const [first] = waiting;
  const isFirstTry = !first.tried;
  first.tried = true;
  try {
    const { again, answered, answer } = await call("api/answer", {}, first.body);
    if (first.body.person === person) $("answered").textContent = answered.toLocaleString("en");
    if (again && isFirstTry) say(answeredElsewhere(first, answer), 10);
    else stored += 1;
  } catch (error) {
    if (!isAboutThis(error)) throw error;
    say(`The server did not take your answer (${first.last}): ${error.message}`, 10);
    known.delete(first.body.id); // it may be asked again
    if (error.reload) {
      forget(first.body.id);
      loadAgain();
    }
  }
  waiting.shift();
  forget(first.body.id);
  ended = false;
  showStored();
  soon ??= setTimeout(readProgress, 2000);
}

// Load the page again; what it says, and the answers that are not stored, stay in the browser.
function loadAgain() {
  try {
    sessionStorage.setItem("complabel said", $("alert").textContent);
  } catch {
    // Without storage, it is not said.
  }
  location.reload();
}

// What counts is the answer that came first, perhaps from another window of the same person.
function answeredElsewhere({ body, last }, answer) {
  if (answer === null) return `This was answered elsewhere, and taken back; ${last} is not stored.`;
  const same = JSON.stringify([answer].flat().sort()) === JSON.stringify([body.answer].flat().sort());
  if (same) return `This was answered elsewhere before, in the same way (${last}).`;
  const said = [answer].flat().join(", ") || "no label";
  return `This was answered elsewhere before: ${said}. Your answer is not stored (${last}).`;
}

async function fetchNext() {
  // The server's first questions for this person are those in `line`, so the one behind them is
  // new. If it is not, another one is, such as one that was taken back elsewhere. Meanwhile people
  // answer, so a known question need not be in `line` any more.
  for (let skip = line.length; skip >= 0; skip--) {
    const question = await call("api/next", { person, ...(skip && { skip }) });
    if (question && !known.has(question.id)) {
      known.add(question.id);
      line.push(prepare(question));
      if (line.length === 1) show();
      return;
    }
    if (!question && line.length === 0) break;
  }
  ended = true;
  if (line.length === 0) show();
}

async function takeBack() {
  try {
    const { question } = await call("api/undo", {}, { person });
    known.add(question.id);
    undoing = false;
    times.pop();
    stored = Math.max(stored - 1, 0);
    line = [prepare(question), ...line.filter(({ id }) => id !== question.id)];
    $("last").textContent = "Taken back.";
    show();
    showStored();
  } catch (error) {
    if (!isAboutThis(error)) throw error;
    undoing = false;
    say(sentence(error.message), 10);
    show();
  }
}

function failed(error) {
  if (error.reload) {
    say("This page showed what is not so any more. It was loaded again.");
    loadAgain();
    return;
  }
  if (error instanceof Refused && error.status === 403) {
    say(`${sentence(error.message)} Your answers are kept in this browser until then.`);
    if (!line.length) setState("error");
    return;
  }
  if (isAboutThis(error)) {
    askName(sentence(error.message));
    return;
  }
  const lost = undoing ? " Nothing was taken back." : "";
  undoing = false;
  main.dataset.away = "yes";
  const kept = count(waiting.length, "answer");
  say(
    `${error instanceof Refused ? sentence(error.message) : "The server is away."}` +
      ` This page tries again every few seconds.${lost}` +
      (waiting.length ? ` What is not stored (${kept}) is kept in this browser and sent then.` : "") +
      (line.length ? " You can go on with this question." : ""),
  );
  showStored();
  if (!line.length) setState("loading");
  retry = setTimeout(work, 1000 * pause);
  pause = Math.min(2 * pause, 8);
}

function isBack() {
  pause = 1;
  if (main.dataset.away !== "yes") return;
  main.dataset.away = "no";
  say("");
  readProgress();
}

addEventListener("online", work);

// ---------------------------------------------------------------------- answers that wait, also in the browser's storage

function keep(entry) {
  try {
    const kept = { body: entry.body, last: entry.last, at: Date.now() };
    localStorage.setItem(KEPT + entry.body.id, JSON.stringify(kept));
  } catch {
    // Without storage, or with a full one, the answers wait in memory only.
  }
}

function forget(id) {
  try {
    localStorage.removeItem(KEPT + id);
  } catch {
    // As above.
  }
}

function restore() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(KEPT));
    const kept = names.map((name) => JSON.parse(localStorage.getItem(name)));
    kept.sort((one, other) => one.at - other.at);
    waiting.push(...kept.map(({ body, last }) => ({ body, last, question: null, tried: true })));
  } catch {
    // As above.
  }
}

addEventListener("beforeunload", (event) => {
  if (waiting.length && main.dataset.away === "yes") event.preventDefault();
});

// ---------------------------------------------------------------------- what people do

function answer(value, said) {
  const [question] = line;
  const skipped = value === "unsure";
  if (!question || undoing || (clock.start === null && !skipped)) return;
  const seconds = Math.min(clock.seconds(), 86_400);
  const { id, item, label, offered, renamed } = question;
  const shown = label === undefined ? { offered, renamed } : { label, renamed };
  const body = { id, person, answer: value, seconds: Number(seconds.toFixed(3)), item, ...shown };
  const last = `${question.label ? `${question.label}, ` : ""}${said}`;
  const entry = { body, question, tried: false, last };
  line.shift();
  waiting.push(entry);
  times.push(seconds);
  keep(entry);
  if (main.dataset.away !== "yes" && Date.now() > heldUntil) say("");
  $("last").replaceChildren("Last answer: ", isolated(last));
  show();
  showStored();
  work();
}

function undo() {
  if (undoing) return;
  const newest = waiting.at(-1);
  if (newest && !newest.tried) {
    waiting.pop();
    times.pop();
    forget(newest.body.id);
    line.unshift(newest.question);
    $("last").textContent = "Taken back.";
    show();
    showStored();
  } else {
    undoing = true;
    work();
  }
}

const boxes = () => [...$("options").querySelectorAll("input")];
const ticked = () => boxes().filter((box) => box.checked).map((box) => box.value);

const deeds = {
  yes: () => line[0]?.question === "asked" && answer("yes", "yes"),
  no() {
    const [question] = line;
    if (question?.question === "asked") answer("no", "no");
    else if (question && positive(question)) answer([], nothing(question));
  },
  unsure: () => answer("unsure", "unsure"),
  all: () => line[0] && negative(line[0]) && answer([], nothing(line[0])),
  undo,
  send() {
    const [question] = line;
    if (!question || question.question === "asked" || single(question)) return;
    if ($("send").dataset.wait) return;
    const labels = ticked();
    const none = nothing(question);
    answer(labels, labels.length ? labels.join(", ") : none);
  },
};
const LETTERS = { y: "yes", n: "no", s: "unsure", u: "undo", a: "all", Enter: "send" };

function take(option) {
  if (!option) return;
  if (option.matches("button")) option.click();
  else option.querySelector("input").click();
}

function offered() {
  return $("options").hidden ? [] : [...$("options").children].filter((option) => !option.hidden);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (main.dataset.state !== "question" && main.dataset.state !== "done") return;
  const key = nameOf(event);
  const { target } = event;
  if (key === "ArrowDown" || key === "ArrowUp") {
    if (moveFocus(target, key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    return;
  }
  if (event.repeat) return;
  if (target === $("filter")) {
    if (keyInFilter(key)) event.preventDefault();
    return;
  }
  const native = target.closest("button, a, summary"); // Enter and the space bar press it
  if (!$("keys").checked || (native && (key === "Enter" || key === " "))) return;
  if (key === "/" && !$("finding").hidden) $("filter").focus();
  else if (KEYS.includes(key)) take(offered()[KEYS.indexOf(key)]);
  else if (key === "o" && $("shown").querySelector("a")) $("shown").querySelector("a").click();
  else if (Object.hasOwn(LETTERS, key)) deeds[LETTERS[key]]();
  else return;
  event.preventDefault();
});

function keyInFilter(key) {
  if (key !== "Escape" && key !== "Enter") return false;
  if (key === "Escape") $("question").focus();
  else if ($("filter").value.trim()) take(offered()[0]);
  else deeds.send();
  clearFilter();
  return true;
}

// Digits count by their place, as some keyboards need Shift for them; so do letters where the
// keyboard writes another script.
function nameOf({ key, code }) {
  if (key.length > 1) return key;
  const place = /^(?:Digit|Numpad|Key)([0-9A-Z])$/.exec(code)?.[1].toLowerCase();
  return place && (/\d/.test(place) || !/[ -~]/.test(key)) ? place : key.toLowerCase();
}

function moveFocus(target, step) {
  const all = offered().map((option) => option.querySelector("input") ?? option);
  const here = all.indexOf(target);
  if (!all.length || (here < 0 && target !== $("filter"))) return false;
  if (here + step < 0 && !$("finding").hidden) $("filter").focus();
  else all[Math.min(Math.max(here + step, 0), all.length - 1)].focus();
  return true;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) deeds[button.dataset.do]();
});

// ---------------------------------------------------------------------- how long people take

const clock = {
  start: null, // when the question was shown; null until its picture is there
  away: 0, // milliseconds since then in which the page was hidden
  hiddenAt: null,
  begin() {
    this.start = performance.now();
    this.away = 0;
    this.hiddenAt = document.hidden ? this.start : null;
  },
  seconds() {
    return this.start === null ? 0 : Math.max(0, performance.now() - this.start - this.away) / 1000;
  },
};
let visible = 0; // milliseconds of this sitting before `visibleAt`
let visibleAt = document.hidden ? null : performance.now();

document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden) {
    clock.hiddenAt = now;
    if (visibleAt !== null) visible += now - visibleAt;
    visibleAt = null;
  } else {
    // People read a linked page in another tab, so that time is part of the answer.
    if (clock.hiddenAt !== null && !line[0]?.show.url) clock.away += now - clock.hiddenAt;
    clock.hiddenAt = null;
    visibleAt = now;
  }
});

// ---------------------------------------------------------------------- what is shown

// Say what went wrong; a message that stays for some seconds outlives the next answers.
function say(text, seconds = 0) {
  heldUntil = Date.now() + 1000 * seconds;
  if ($("alert").textContent !== text) $("alert").textContent = text;
}

function setState(state) {
  main.dataset.state = state;
  $("who").hidden = state !== "name";
  $("done").hidden = state !== "done";
  $("asking").hidden = state !== "question";
  $("loading").hidden = state !== "loading";
  if (state === "question") $("asking").append($("progress"));
  if (state === "done") $("done").append($("progress"));
  if (state !== "question") main.dataset.question = "";
}

function show() {
  const [question] = line;
  clock.start = null;
  if (!question) {
    if (ended && !waiting.length && !undoing) showDone();
    else setState("loading");
    return;
  }
  if (question.failed && !question.triedAgain) {
    question.triedAgain = true; // the server may have been away
    prepare(question);
  }
  const focused = document.activeElement;
  setState("question");
  $("question").replaceChildren(...wording(question));
  $("caption").replaceChildren(isolated(question.item));
  layOut(question);
  if (question.loaded) display(question);
  else {
    const text = "The picture is loading…";
    $("shown").replaceChildren(element("p", { className: "soft", textContent: text }));
    question.ready.then(() => display(question));
  }
  // What had the focus may be gone: the next question is the place to go on from.
  if (focused !== document.body && !focused.checkVisibility()) $("question").focus();
}

function display(question) {
  if (line[0] !== question) return;
  $("shown").replaceChildren(question.element);
  question.element.scrollTop = 0;
  clock.begin();
  main.dataset.question = question.id;
}

function layOut(question) {
  const kind = question.question;
  const list = kind !== "asked";
  const alike = { positive: "named", "positive-menu": "menu" }; // laid out in the same way
  main.dataset.kind = alike[kind] ?? kind;
  for (const button of $("buttons").children) {
    const wanted = {
      asked: !list,
      list: list && !single(question),
      negative: negative(question),
      positive: positive(question),
    };
    button.hidden = button.dataset.for ? !wanted[button.dataset.for] : false;
  }
  const size = list ? question.offered.length : 0;
  $("finding").hidden = size <= KEYS.length;
  main.dataset.size = size > ROOMY ? "many" : "few";
  $("options").hidden = !list;
  $("hint").hidden = !list;
  if (list) {
    $("hint").textContent = hintFor(question);
    const isNew = fillOptions(question);
    if (isNew || $("filter").value) clearFilter();
    $("options").scrollTop = 0;
  }
  showTicked();
}

// A list of hundreds of labels is made once; the next question unticks it. Return whether it is new.
function fillOptions(question) {
  const made = JSON.stringify([single(question), question.offered]);
  if ($("options").made === made) {
    for (const box of boxes()) box.checked = false;
    return false;
  }
  $("options").made = made;
  const longest = Math.max(...question.offered.map((name) => name.length));
  $("options").style.setProperty("--longest", `${Math.min(longest, 40)}ch`);
  $("options").replaceChildren(
    ...question.offered.map((name) => {
      const key = element("kbd", { ariaHidden: "true" });
      if (single(question)) {
        const button = element("button", { type: "button", className: "option", value: name });
        button.append(key, isolated(name));
        button.onclick = () => answer([name], name);
        return button;
      }
      const option = element("label", { className: "option" });
      const box = element("input", { type: "checkbox", value: name, onchange: showTicked });
      option.append(key, box, isolated(name));
      return option;
    }),
  );
  return true;
}

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// Show the labels that have all words of the filter. The first of them have keys. A label that is
// what was typed comes first, then labels that begin with it: Enter takes the first.
function find() {
  const typed = plain($("filter").value).trim();
  const words = typed.split(/\s+/).filter(Boolean);
  const options = [...$("options").children];
  const places = new Map();
  for (const option of options) {
    const name = plain(option.value ?? option.querySelector("input").value);
    option.hidden = !words.every((word) => name.includes(word));
    option.dataset.place ??= places.size;
    const rank = !typed || option.hidden ? 0 : name === typed ? -2 : name.startsWith(typed) ? -1 : 0;
    places.set(option, [rank, Number(option.dataset.place)]);
  }
  const order = (one, two) => {
    const [first, second] = [places.get(one), places.get(two)];
    return first[0] - second[0] || first[1] - second[1];
  };
  if (options.some((option, at) => at && order(options[at - 1], option) > 0)) {
    $("options").append(...options.sort(order));
  }
  let shown = 0;
  for (const option of options) {
    const key = option.hidden ? "" : (KEYS[shown] ?? "");
    option.querySelector("kbd").textContent = key;
    const control = option.querySelector("input") ?? option;
    if (key) control.setAttribute("aria-keyshortcuts", key);
    else control.removeAttribute("aria-keyshortcuts");
    shown += !option.hidden;
  }
  $("found").textContent = words.length ? `${count(shown, "label")} found` : "";
}
$("filter").addEventListener("input", find);

function clearFilter() {
  $("filter").value = "";
  find();
}

function showTicked() {
  const [question] = line;
  const list = question && question.question !== "asked" && !single(question);
  const labels = list ? ticked() : [];
  $("ticked").hidden = !list || $("finding").hidden;
  $("ticked").replaceChildren("Ticked: ", ...(labels.length ? listed(labels) : ["none"]));
  if (!list) return;
  const wanted = question.asked_for ?? 1;
  let said = labels.length ? `Send ${count(labels.length, "label")}` : "Send: none applies";
  let wait = "";
  if (naming(question)) {
    if (!labels.length) said = wait = `Tick ${wanted} first`;
    else if (labels.length > wanted) said = wait = `Only ${wanted} are asked for`;
    else if (labels.length < wanted) said += positive(question) ? ": no others apply" : ": all others apply";
  }
  $("send").textContent = said;
  $("send").dataset.wait = wait;
  $("send").parentElement.setAttribute("aria-disabled", String(wait !== ""));
}

function listed(labels) {
  return labels.flatMap((label, i) => (i ? [", ", isolated(label)] : [isolated(label)]));
}

function showStored() {
  // One answer waits for a moment only; to show that each time would flicker.
  const many = waiting.length > 1 || main.dataset.away === "yes" ? waiting.length : 0;
  const said = [stored && `${stored.toLocaleString("en")} stored`, many && `${many} not stored yet`];
  $("stored").textContent = said.filter(Boolean).join(", ");
  $("stored").dataset.waiting = String(waiting.length);
  $("stored").classList.toggle("all", stored > 0 && !many);
  showTimes();
}

function showDone() {
  const before = main.dataset.state;
  setState("done");
  $("table").href = "answers.csv";
  readProgress();
  if (before !== "done") $("done-title").focus();
}

// ---------------------------------------------------------------------- progress

function showTimes() {
  const minutes = (visible + (visibleAt === null ? 0 : performance.now() - visibleAt)) / 60_000;
  $("minutes").textContent = minutes.toFixed(minutes < 10 ? 1 : 0);
  const sorted = [...times].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  $("seconds").textContent = sorted.length ? median.toFixed(1) : "–";
}

async function readProgress() {
  let found;
  clearTimeout(soon);
  soon = null;
  try {
    found = await call("api/progress", { person });
  } catch {
    return; // `work` says that the server is away
  }
  const mine = found.people?.[person] ?? { answers: 0, skips: 0, changes: 0 };
  $("answered").textContent = mine.answers.toLocaleString("en");
  $("skips").textContent = mine.skips.toLocaleString("en");
  $("changes").textContent = mine.changes.toLocaleString("en");
  $("left").textContent = found.left === null ? "–" : found.left.toLocaleString("en");
  showTimes();
  $("why").textContent = found.why ?? "";
  showLearning(found.learning);
  const goals = found.until?.goals ?? [];
  $("goals").hidden = !goals.length;
  $("goals").replaceChildren(...goals.map(goalOf));
  const reached = found.until?.reached ?? false;
  $("done-title").textContent = reached ? "You know enough" : "Nothing is left to ask";
  if (main.dataset.state === "done") {
    const others = found.left > 0;
    $("done-why").textContent = others
      ? "Other people have the last questions. This page asks again by itself."
      : `All questions are answered: ${count(found.answered, "answer")}. Thank you.`;
    if (reached) $("done-why").textContent = "Each goal is reached, so nothing more is asked. Thank you.";
  }
}

function showLearning(learning) {
  $("learning").hidden = !learning;
  if (!learning) return;
  const { curve = [], advice = "", features } = learning;
  $("curve").toggleAttribute("hidden", !curve.length);
  if (curve.length) drawCurve($("curve"), curve, features?.guess);
  $("advice").textContent = advice;
  const untold = features?.sentence ?? "";
  $("untold").textContent = untold && untold[0].toUpperCase() + untold.slice(1) + (untold.endsWith("?") ? "" : ".");
  const labels = Object.entries(features?.labels ?? {});
  labels.sort(([, one], [, other]) => (one.value ?? -1) - (other.value ?? -1)); // the least told first
  $("told").hidden = !labels.length;
  const list = $("told").querySelector("ul");
  list.replaceChildren(...labels.slice(0, MOST_TOLD).map(orderOf));
  if (labels.length > MOST_TOLD) list.append(`and ${labels.length - MOST_TOLD} more, which are told better`);
}

// ---------------------------------------------------------------------- begin

function askName(message = "") {
  say(message);
  setState("name");
  $("name").focus();
}

$("who").addEventListener("submit", (event) => {
  event.preventDefault();
  person = $("name").value.trim();
  if (!person) return;
  address.set("person", person);
  history.replaceState(null, "", `?${address}`);
  say("");
  begin();
});

function begin() {
  const others = new URLSearchParams(address);
  others.delete("person");
  $("person").hidden = false;
  $("person").querySelector("bdi").textContent = person;
  $("person").querySelector("a").href = `?${others}`;
  line = [];
  known.clear();
  ended = false;
  setState("loading");
  showStored();
  work();
  readProgress();
}

setInterval(() => {
  if (!person || document.hidden) return;
  if (main.dataset.state === "done") {
    ended = false; // somebody may have left a question
    work();
  } else readProgress();
}, 10_000);
restore();
if (person) begin();
else askName();
try {
  const said = sessionStorage.getItem("complabel said");
  if (said) say(said, 10);
  sessionStorage.removeItem("complabel said");
} catch {
  // As above.
}
