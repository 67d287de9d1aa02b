// Answers in place of the server of `complabel annotate`, from a recorded sitting.

const recorded = fetch("recorded.json").then((reply) => reply.json());
const answered = []; // positions of questions, in the order of the answers
const counts = { skips: 0, changes: 0 };

const reply = (content, status = 200) =>
  new Response(status === 204 ? null : JSON.stringify(content), { status });

const routes = {
  next({ questions }, { skip = 0 }) {
    const left = questions.filter((_, at) => !answered.includes(at));
    return left[skip] ? reply(left[skip]) : reply(null, 204);
  },
  answer({ questions }, _, body) {
    const at = questions.findIndex(({ id }) => id === body.id);
    if (!answered.includes(at)) answered.push(at);
    if (body.answer === "unsure") counts.skips += 1;
    return reply({ stored: true, again: false, answered: answered.length, answer: body.answer });
  },
  undo({ questions }) {
    if (!answered.length) return reply({ error: "There is no answer to take back." }, 409);
    counts.changes += 1;
    const question = questions[answered.pop()];
    return reply({ undone: question.id, question });
  },
  progress({ questions, learned, items }) {
    const share = answered.length / questions.length;
    const learning = learned[Math.round(share * learned.length) - 1] ?? null;
    const people = { You: { answers: answered.length, ...counts } };
    const left = questions.length - answered.length;
    return reply({ items, answered: answered.length, people, left, why: null, learning, until: null });
  },
};

window.fetch = async (address, { body } = {}) => {
  const { pathname, searchParams } = new URL(address, location.href);
  const route = routes[pathname.split("/api/").at(-1)];
  return route(await recorded, Object.fromEntries(searchParams), body && JSON.parse(body));
};

if (!new URLSearchParams(location.search).has("person")) {
  history.replaceState(null, "", "?person=You");
}
