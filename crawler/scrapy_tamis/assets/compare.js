// Votes for one of the texts, by click or by the number of its column.
for (const choice of document.querySelectorAll("button[data-vote]")) {
  const vote = async () => { if (await ask("vote", { vote: Number(choice.dataset.vote) })) location.reload(); };
  choice.addEventListener("click", vote);
  KEYS[choice.dataset.vote] = vote;
}
