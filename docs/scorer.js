// The order of search results: the manual comes before the reference, and the reference before the
// evidence. The other scores are those that Sphinx takes by itself.
var Scorer = {
  score([page, , , , score]) {
    if (page.startsWith("evidence/")) return score - 200;
    if (["python", "commands", "messages", "files"].includes(page)) return score - 100;
    return page.startsWith("gallery/") ? score - 50 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
