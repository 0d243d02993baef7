(() => {
  // Votes for one of the texts, by click or by the number of its column.
  const choices = [...document.querySelectorAll("button[data-vote]")];
  function show({ vote, names, tally }) {
    for (const button of choices) button.setAttribute("aria-pressed", button.dataset.vote === String(vote));
    if (names) document.querySelectorAll(".column .name").forEach((name, at) => { name.textContent = names[at]; });
    notice(tally);
  }
  async function vote(at) {
    const answer = await ask("vote", { vote: at });
    if (answer) show(answer);
  }
  for (const button of choices) {
    const at = Number(button.dataset.vote);
    button.addEventListener("click", () => vote(at));
    KEYS[at] = () => vote(at);
  }
  show(data.state);
})();
