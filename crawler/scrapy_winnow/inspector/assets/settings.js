  // The settings that are tried, what the server or the file says of them, gold, keys and all the rest.
  // ---- asking the server ----
  async function ask(what, body) {
    try {
      const answer = await fetch(`${what}?page=${data.number}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error || answer.statusText);
      return found;
    } catch (error) { notice(`The inspector did not answer: ${error.message}`); return null; }
  }
  async function askOutputs() { const at = asked, found = await ask("outputs", state.tried); if (found && at === asked) { outputs = found; panel(); } }
  let waiting = null, underWay = false;
  async function attempt(control) {
    if (!data.server) { lookUp(control); return; }
    showControls();
    waiting = tried();
    if (underWay) return;
    underWay = true;
    while (waiting) {
      const values = waiting, begin = performance.now();
      waiting = null; asked += 1;
      const found = await ask("state", values);
      if (!found) break;
      outputs = null;
      become(found);
      document.documentElement.dataset.answered = (performance.now() - begin).toFixed(1);
    }
    underWay = false;
  }

  function become(found) {
    const block = units[selected] && units[selected].blocks[0];
    state = found; arrangeUnits(); paint(); panel(); legend(); showControls(); compare();
    selected = block === undefined ? -1 : unitOf(block); card(); look();
  }

  // ---- a file has no server: what each control does alone was worked out beforehand ----
  let prepared = null;
  async function unpack() {
    if (data.server || !data.prepared || !window.DecompressionStream) return;
    const bytes = Uint8Array.from(atob(data.prepared), (character) => character.charCodeAt(0));
    const { axes, pool, states } = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    const unpacked = states.map((packed) => ({ ...packed, sections: packed.sections.map((at) => pool[at]), text: packed.text.map((at) => pool[at]).join("\n") }));
    prepared = Object.fromEntries(Object.entries(axes).map(([name, positions]) => [name, positions.map(([value, at]) => [value, unpacked[at]])]));
    find("model").closest("label").hidden = !prepared.model;
    find("controls").hidden = false;
    showControls();
    document.documentElement.dataset.prepared = "yes";
  }
  const CONTROLS = ["model", "favor", "threshold", "penalty", "seen"];
  function lookUp(control) {
    const positions = prepared && prepared[control];
    if (!positions) return;
    const begin = performance.now(), at = find(control).value;
    const distance = (value) => (typeof value === "number" ? Math.abs(value - Number(at)) : Number(value !== at));
    const [value, found] = positions.reduce((best, each) => (distance(each[0]) < distance(best[0]) ? each : best));
    reset();
    ownThreshold = control !== "threshold";
    find(control).value = value;
    become(found);
    document.documentElement.dataset.answered = (performance.now() - begin).toFixed(1);
  }
  function reset() {
    ownThreshold = true;
    find("penalty").value = 0; find("seen").value = data.state.tried.pages; find("model").value = data.models[0][0];
    find("favor").value = data.state.tried.favor;
  }

  // ---- settings that are tried ----
  const scale = () => { const at = Number(find("penalty").value); return at <= -21 ? 0 : 10 ** (at / 10); };
  let ownThreshold = true;
  const tried = () => ({ model: find("model").value || null, threshold: ownThreshold ? null : Number(find("threshold").value), penalty: scale(), pages: Number(find("seen").value), smooth: true, favor: find("favor").value });
  function showControls() {
    if (ownThreshold) find("threshold").value = state.ownThreshold;
    find("threshold-value").textContent = ownThreshold ? `${state.ownThreshold.toFixed(2)} (own)` : Number(find("threshold").value).toFixed(2);
    find("penalty-value").textContent = `× ${scale() >= 10 ? scale().toFixed(0) : scale().toPrecision(2)}`;
    find("pages-seen").hidden = !state.of;
    find("seen").max = Math.max(state.of, 1);
    find("seen-value").textContent = `${find("seen").value}${state.seen < state.of ? ` (reading, ${state.seen})` : ""}`;
  }
  function compare() {
    find("pin").setAttribute("aria-pressed", pinned !== null);
    find("pin").textContent = pinned ? "Unpin" : "Pin to compare";
    const ofFile = !data.server && state !== data.state ? "A file tries one setting at a time; its Markdown, HTML and item stay as they were written." : "";
    if (!pinned) { notice([data.notice, ofFile].filter(Boolean).join(" ")); return; }
    let more = 0, less = 0;
    for (const block of differing()) { if (cutAs(block)) less += blockWords[block]; else more += blockWords[block]; }
    const { model, threshold, penalty, pages, favor } = pinned.tried;
    notice(`Against the pinned (${model || "own model"}, favor ${favor}, cut from ${threshold === null ? "its own" : threshold.toFixed(2)}, penalty × ${penalty.toPrecision(2)}, ${pages} pages seen): ` +
      (more || less ? `${more.toLocaleString("en")} words are kept that were not, ${less.toLocaleString("en")} are cut that were kept.` : "the same text."));
  }
  function pin() { pinned = pinned ? null : state; arrangeUnits(); paint(); panel(); compare(); }
  function notice(text) { find("notice").textContent = text; }
  function legend() {
    const words = [0, 0, 0, 0];
    state.kind.forEach((kind, block) => { words[kind] += blockWords[block]; });
    find("legend").replaceChildren(...KINDS.map((kind, at) => {
      const button = make("button", { type: "button", className: kind, title: `Show or hide  ${at + 1}` }, make("i"), `${KIND_NAMES[at]} `, make("span", { className: "quiet", textContent: `${words[at].toLocaleString("en")} words` }));
      button.setAttribute("aria-pressed", shown[at]);
      button.hidden = !words[at] && at > 1;
      button.addEventListener("click", () => toggle(at));
      return button;
    }));
  }
  function toggle(kind) { shown[kind] = !shown[kind]; legend(); paint(); if (tab === "Sections") panel(); }

  // ---- gold ----
  function mark() {
    const unit = units[selected];
    if (!data.collect || !unit || !unit.blocks.length) return;
    for (const block of unit.blocks) unit.marked ? marks.delete(block) : marks.set(block, cutAs(block) ? "content" : "template");
    arrangeUnits(); paint(); panel(); card(); showMarks();
  }
  function showMarks(said = "") {
    find("gold").hidden = !data.collect;
    const words = wordsOf([...marks.keys()]);
    find("marks").textContent = said || (marks.size ? `${words.toLocaleString("en")} words are marked as wrong` : data.known ? "Already saved; mark what is wrong, or save again" : "Nothing is marked as wrong") + ` · ${saved.toLocaleString("en")} in ${data.collect}`;
  }
  async function save() {
    if (!data.collect) return;
    const found = await ask("gold", { tried: state.tried, marks: [...marks] });
    if (!found) return;
    saved = found.saved; data.known = true;
    if (data.number + 1 < data.pages && found.next !== null) { go(found.next); return; }
    showMarks(`Saved; ${saved.toLocaleString("en")} in ${data.collect}`);
  }

  // ---- everything around ----
  function go(number) { if (data.server && number >= 0 && number < data.pages) location.search = `?page=${number}`; }
  function theme(to) {
    document.documentElement.dataset.theme = to;
    find("theme").textContent = to === "dark" ? "Light" : "Dark";
  }
  function keys(open) { find("keys").hidden = !open; find("help").setAttribute("aria-expanded", open); }
  const KEYS = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1), Enter: () => look(true),
    Escape: () => select(-1), "/": () => find("search").focus(), "?": () => keys(find("keys").hidden), b: () => setBlockwise(!blockwise),
    x: mark, s: save, p: () => find("controls").hidden || pin(), "[": () => go(data.number - 1), "]": () => go(data.number + 1),
    t: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
    1: () => toggle(0), 2: () => toggle(1), 3: () => toggle(2), 4: () => toggle(3),
  };
  function key(name) { if (!Object.hasOwn(KEYS, name)) return false; KEYS[name](); return true; }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.key === "Enter" && event.target.matches("button")) return;
    if (key(event.key)) event.preventDefault();
  });
  find("search").addEventListener("input", (event) => { query = event.target.value.toLowerCase(); if (tab !== "Sections") { tab = "Sections"; showTabs(); } panel(); });
  find("theme").addEventListener("click", KEYS.t);
  find("help").addEventListener("click", KEYS["?"]);
  find("pin").addEventListener("click", pin);
  find("save").addEventListener("click", save);
  find("previous").addEventListener("click", () => go(data.number - 1));
  find("next").addEventListener("click", () => go(data.number + 1));
  find("number").addEventListener("change", (event) => go(Number(event.target.value) - 1));
  for (const id of CONTROLS) find(id).addEventListener("input", () => { if (id === "threshold" || id === "favor") ownThreshold = id === "favor"; attempt(id); });
  find("reset").addEventListener("click", () => { reset(); if (data.server) attempt(); else become(data.state); });

  theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  find("where").textContent = [data.document.name, data.document.url].filter((text, at, all) => text && all.indexOf(text) === at && text !== data.document.title).join(" · ");
  find("pages").hidden = data.pages < 2;
  find("number").value = data.number + 1; find("number").max = data.pages; find("of").textContent = `of ${data.pages.toLocaleString("en")}`;
  find("controls").hidden = !data.server;
  find("model").replaceChildren(...(data.models || []).map(([value, name]) => make("option", { value, textContent: name })));
  find("seen").value = state.tried.pages;
  find("favor").value = state.tried.favor;
  arrangeUnits(); legend(); showTabs(); panel(); card(); showControls(); showMarks(); compare(); openFrame();
  unpack();
  const reading = setInterval(async () => {
    if (!data.server || state.seen >= state.of) { clearInterval(reading); return; }
    const found = await ask("seen", {});
    if (found) { Object.assign(state, found); showControls(); if (state.tried.pages > 0 && !found.busy) attempt(); }
  }, 500);
