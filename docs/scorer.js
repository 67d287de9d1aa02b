// The order of search results: the manual comes before the reference, and the reference before the
// evidence; the page of all Python names comes last. The other scores are those that Sphinx takes by itself.
var Scorer = {
  score([page, , , , score]) {
    if (page.startsWith("evidence/")) return score - 200;
    if (["commands", "messages", "files"].includes(page)) return score - 100;
    if (page === "python") return score - 250; // it has all names, and so nearly all words
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

// Sphinx shows only pages that have all words. Pages that lack one or two of the words come after
// them. The search is defined below, in the same script, so this waits until the script has run.
queueMicrotask(() => {
  const whole = Search.performTermsSearch;
  const lacking = (words, excluded, most) => {
    const found = new Map(whole(words, excluded).map((result) => [result[0], result]));
    if (most === 0 || words.size < 3) return found;
    for (const word of words) {
      const others = new Set([...words].filter((each) => each !== word));
      for (const [page, result] of lacking(others, excluded, most - 1))
        if (!found.has(page)) found.set(page, result.with(4, result[4] - 300));
    }
    return found;
  };
  Search.performTermsSearch = (words, excluded) => [...lacking(words, excluded, 2).values()];
});
