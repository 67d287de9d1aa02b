// What the page of `complabel annotate` makes of what the server says: elements, and words.
// Nothing here knows what happened before. All that comes from outside becomes text, never HTML.

const LONG_TEXT = 20_000; // characters shown of a text, until more are wanted
const LEAST = 384; // pixels to which tiny pictures grow; others grow up to four times

// ---------------------------------------------------------------------- the item

// Add to a question the element that shows its item, so that a picture is loaded before it is
// needed. `ready` is a promise; `loaded` says that it is kept, and `failed` that nothing can be seen.
export function prepare(question) {
  const { image, url } = question.show;
  question.loaded = question.failed = false;
  if (image !== undefined) {
    const picture = new Image();
    picture.alt = question.item;
    picture.src = image;
    question.element = picture;
    question.ready = picture.decode().then(
      () => fitPicture(picture),
      () => {
        question.failed = true;
        question.element = element("p", { className: "soft" });
        question.element.append("The picture ", isolated(question.item), " cannot be shown.");
      },
    );
  } else {
    question.element = url === undefined ? textOf(question) : linkTo(question);
    question.ready = Promise.resolve();
  }
  question.ready = question.ready.then(() => (question.loaded = true));
  return question;
}

function fitPicture(picture) {
  const { naturalWidth: width, naturalHeight: height } = picture;
  const scale = Math.max(4, LEAST / Math.max(width, height));
  picture.style.maxWidth = `${width * scale}px`;
  picture.style.maxHeight = `${height * scale}px`;
}

function textOf(question) {
  const text = question.show.text ?? "";
  const box = element("div", { className: "text", tabIndex: 0, dir: "auto" });
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `Item ${question.item}`);
  box.textContent = text.slice(0, LONG_TEXT);
  if (text.length > LONG_TEXT) {
    const rest = count(text.length - LONG_TEXT, "more character");
    const more = element("button", { type: "button", textContent: `Show ${rest}` });
    more.onclick = () => {
      box.textContent = text;
      box.focus();
    };
    box.append("…", more);
  }
  return box;
}

function linkTo(question) {
  const { url } = question.show;
  const box = element("p", { className: "link" });
  if (!/^https?:\/\//i.test(url)) {
    box.append("This is not an address of the web: ", isolated(url));
    return box;
  }
  const link = element("a", { href: url, target: "_blank", rel: "noopener noreferrer" });
  link.append(isolated(url), element("span", { className: "hidden", textContent: " (new tab)" }));
  link.setAttribute("aria-keyshortcuts", "o");
  box.append(element("kbd", { textContent: "o", ariaHidden: "true" }), link);
  box.append(element("span", { className: "soft", textContent: "opens in a new tab" }));
  return box;
}

// ---------------------------------------------------------------------- the question

export const positive = (question) => /^positive(-menu)?$/.test(question.question);
export const negative = (question) => /^(menu|named)$/.test(question.question);
export const naming = (question) => negative(question) || positive(question);
export const nothing = (question) => (negative(question) ? "all apply" : "none applies");
export const single = (question) => question.asked_for === 1;

export function wording(question) {
  const bold = (text) => element("strong", { textContent: text });
  const label = element("strong");
  label.append(isolated(question.label ?? ""));
  const many = question.asked_for ?? 1;
  const what = many === 1 ? "one" : String(many);
  const not = bold(many === 1 ? "does not" : "do not");
  switch (question.question) {
    case "asked":
      return ["Does ", label, " apply?"];
    case "ticked":
      return ["Tick ", bold("all"), " labels that apply"];
    case "positive":
      return [`Name ${what} label${many === 1 ? " that applies" : "s that apply"}`];
    case "positive-menu":
      return [`Name ${what} of these that ${many === 1 ? "applies" : "apply"}`];
    case "menu":
      return [`Name ${what} of these that `, not, " apply"];
    default:
      return [`Name ${what} label${many === 1 ? "" : "s"} that `, not, " apply"];
  }
}

export function hintFor(question) {
  if (single(question)) return "One key or one click answers.";
  if (naming(question)) return "Tick them, then press Enter.";
  return "If none applies, send the list with nothing ticked.";
}

// ---------------------------------------------------------------------- the score

const decimals = (value) => (value ?? 0).toFixed(3).replace(/^0/, "");

// The held-out score against minutes, with a band of one standard error.
export function drawCurve(into, points, guess = null) {
  const [left, right, top, bottom] = [34, 330, 10, 98];
  const low = Math.min(...points.map(([, score, error]) => score - (error ?? 0)), guess ?? 1);
  const high = Math.max(...points.map(([, score, error]) => score + (error ?? 0)), guess ?? 0);
  const longest = Math.max(...points.map(([minutes]) => minutes), 1e-9);
  const x = (minutes) => (left + ((right - left) * minutes) / longest).toFixed(1);
  const y = (score) => (bottom - ((bottom - top) * (score - low)) / (high - low || 1)).toFixed(1);
  const path = (pairs) => pairs.map((pair) => pair.join(",")).join(" ");
  const upper = points.map(([minutes, score, error]) => [x(minutes), y(score + (error ?? 0))]);
  const lower = points.map(([minutes, score, error]) => [x(minutes), y(score - (error ?? 0))]);
  const middle = points.map(([minutes, score]) => [x(minutes), y(score)]);
  const [lastMinutes, lastScore] = points.at(-1);
  const label = (content, at, anchor) => svg("text", { ...at, "text-anchor": anchor }, content);
  const isNear = Math.abs(y(guess) - y(lastScore)) < 24; // then there is no room on the right
  const without = guess === null ? [] : [
    svg("path", { class: "guess", d: `M${left} ${y(guess)}H${right}` }),
    label(`${decimals(guess)} without features`, { x: isNear ? left + 6 : right, y: Math.max(y(guess) - 4, 12) }, isNear ? "start" : "end"),
  ];
  into.replaceChildren(
    svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    svg("polygon", { class: "band", points: path([...upper, ...lower.reverse()]) }),
    ...without,
    svg("polyline", { class: "line", points: path(middle) }),
    svg("circle", { class: "now", cx: x(lastMinutes), cy: y(lastScore), r: 4 }),
    label(decimals(high), { x: left - 5, y: top + 5 }, "end"),
    label(decimals(low), { x: left - 5, y: bottom + 2 }, "end"),
    label("0", { x: left, y: bottom + 16 }, "middle"),
    label(`${longest.toFixed(0)} minutes`, { x: right, y: bottom + 16 }, "end"),
    label(decimals(lastScore), { x: x(lastMinutes), y: Math.max(y(lastScore) - 9, 9) }, "end"),
  );
  const said = `${decimals(lastScore)} after ${lastMinutes.toFixed(0)} minutes`;
  const beside = guess === null ? "" : `; ${decimals(guess)} without features`;
  into.setAttribute("aria-label", `Score on held-out answers: ${said}${beside}`);
}

// What the features tell of a label: its order, with the interval as a bar, and 50 as a mark.
export function orderOf([label, { value, low, high, told }]) {
  const bar = element("div", { className: "bar", ariaHidden: "true" });
  const range = element("div");
  range.style.left = `${100 * low}%`;
  range.style.width = `${100 * (high - low)}%`;
  bar.append(range);
  const whole = (share) => (100 * share).toFixed(0);
  const figure = value === null ? "–" : `${whole(value)} (${whole(low)} to ${whole(high)})`;
  const more = { true: "", false: ", nothing so far", null: ", too few answers" }[told];
  const row = element("li", { className: told ? "" : "untold" });
  row.append(isolated(label), bar, element("span", { textContent: figure + more }));
  return row;
}

// ---------------------------------------------------------------------- small things

export function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

function svg(name, attributes, content = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = content;
  return made;
}

// Names may be written from right to left; they do not turn the words around them.
export function isolated(text) {
  return element("bdi", { textContent: text });
}

export function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

export function sentence(text) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

// ---------------------------------------------------------------------- goals

// Return what is known of a goal: a sentence, and how much of it is there.
export function goalOf(goal) {
  const box = element("div", { className: goal.reached ? "goal reached" : "goal" });
  box.append(element("h2", { textContent: `Goal: ${goal.goal.replace("+-", "± ")}` }));
  const bar = element("div", { className: "bar", ariaHidden: "true" });
  const filled = element("div");
  const isCount = goal.of > 1 || goal.within === null;
  const known = isCount ? [0, goal.known / goal.of] : [goal.low, goal.high];
  filled.style.left = `${100 * known[0]}%`;
  filled.style.width = `${100 * (known[1] - known[0])}%`;
  bar.append(filled);
  box.append(bar, element("p", { textContent: goal.reached ? goal.sentence : stillOpen(goal) }));
  return box;
}

function stillOpen(goal) {
  const { sentence: said, of, known, value, low, high, within, obstacle, answers_left, minutes_left } = goal;
  if (within === null) return said;
  const share = (x) => x.toFixed(within < 0.1 ? 3 : 2);
  let now = `${known} of ${of} labels are known well enough.`;
  if (of === 1) {
    now = value === null ? "Not known yet." : `Now ${share(value)}, from ${share(low)} to ${share(high)}.`;
  }
  const [fewest, , most] = answers_left;
  if (obstacle) return `${now} ${sentence(obstacle)}`;
  if (fewest === null) return `${now} How many answers are left is not known yet.`;
  const range = (from, to) => (from === to ? from : `${from} to ${to}`);
  const whole = (x) => Math.ceil(x).toLocaleString("en");
  if (most === null) {
    return `${now} It takes ${whole(fewest)} more answers or more, in 9 of 10 sittings; these items may be too few.`;
  }
  const [soonest, , latest] = minutes_left;
  const time =
    latest === null ? "" : ` and ${range(whole(soonest), whole(latest))} minutes of people's work`;
  return `${now} It takes ${range(whole(fewest), whole(most))} more answers${time}, in 8 of 10 sittings.`;
}
