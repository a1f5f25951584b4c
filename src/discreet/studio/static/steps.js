/* discreet studio: the pictures that move. Borders of groups, the point on the curve, an analyst's rows. */
"use strict";
const svg = (tag, a, text) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); set(e, a); if (text !== undefined) e.textContent = text; return e; };
const H = p => p.reduce((s, x) => x > 0 ? s - x * Math.log(x) : s, 0);

/* group: drag a border, or focus it and use the arrow keys; every number follows, at once */
if (data.columns) {
  const cards = data.columns, sizes = new Map(), shown = new Map();
  const tells = rows => {                                        // I(group; secret) / H(secret), from counts
    const total = rows.flat().reduce((a, b) => a + b, 0); if (!total || rows[0].length < 2) return null;
    const ps = rows[0].map((_, k) => rows.reduce((t, r) => t + r[k], 0) / total), h = H(ps);
    return h > 0 ? Math.max(0, (h + H(rows.map(r => r.reduce((a, b) => a + b, 0) / total)) - H(rows.flat().map(v => v / total))) / h) : null;
  };
  const told = (c, groups) => {                                  // the tiles, about the column that was touched last
    const card = cards[c], ns = groups.map(g => g.reduce((a, b) => a + b, 0)), t = card.role === "secret" ? null : tells(groups);
    if (card.missing > 0) ns.push(card.missing);                   // they are a group as well
    sizes.set(c, ns.length); say(`groups-${c}`, String(ns.length)); say("smallest", number(Math.min(...ns.filter(n => n > 0))));
    const alone = card.role === "secret" ? null : tells(card.counts);
    say("tells", t === null ? "–" : (t * 100).toFixed(1) + "\u202f%");
    say("tells-words", t === null ? "a secret does not tell about itself" : `of the secret is told by these groups of ${card.key.slice(0, 40)}` + (alone !== null ? `; ${(alone * 100).toFixed(1)}\u202f% by single values` : ""));
    say("combinations", number(cards.reduce((p, one, i) => one.role === "release" ? p * (sizes.get(i) || 1) : p, 1)));
    say("decided", cards.map((one, i) => `${one.key.slice(0, 40)} in ${sizes.get(i) || "?"}`).join("; ") + ".");
  };
  const stale = () => { $("[data-part=thin]").replaceChildren(); say("kept", "—"); say("kept-note", "to be computed again for these groups"); };

  const listed = (c, card) => {
    const into = new Map(Object.entries(card.merged).flatMap(([n, old]) => old.map(o => [o, n]))), groups = new Map();
    card.values.forEach((v, i) => { const n = into.get(v) || v; groups.set(n, card.counts[i].map((x, k) => x + (groups.get(n)?.[k] || 0))); });
    if (card.rare) groups.set("\u0000", card.rare_counts);
    shown.set(c, () => told(c, [...groups.values()])); shown.get(c)();
    const picks = () => $$(`[data-pick="${c}"]:checked`).map(p => JSON.parse(p.value));
    $(`[data-merge="${c}"]`).addEventListener("click", () => {
      const chosen = picks(), box = $(`#n${c}`), name = box.value.trim() || chosen.join(" or ").slice(0, 60);
      if (chosen.length < 2) { toast("Choose two groups or more."); return; }
      const merged = Object.fromEntries(Object.entries(card.merged).filter(([n]) => !chosen.includes(n)));
      merged[name] = chosen.flatMap(n => card.merged[n] || [n]);
      change("merge", { column: card.key, groups: merged }, `${number(chosen.length)} groups are “${name}” now.`, true);
    });
    $(`[data-split="${c}"]`).addEventListener("click", () => {
      const chosen = picks().filter(n => n in card.merged); if (!chosen.length) { toast("Choose a merged group."); return; }
      change("merge", { column: card.key, groups: Object.fromEntries(Object.entries(card.merged).filter(([n]) => !chosen.includes(n))) }, "Split again.", true);
    });
    $(`[data-rare="${c}"]`)?.addEventListener("change", e => change("rare", { column: card.key, records: e.target.checked ? data.k : 0 }, e.target.checked ? "Rare values are “other”." : "Rare values as they are.", true));
  };

  const binned = (c, card) => {
    const box = $(`[data-bins="${c}"]`), tall = +box.getAttribute("height"), ns = card.numbers, unit = card.step, lo = ns[0], hi = ns[ns.length - 1] + unit;
    let borders = card.edges.filter(b => b > lo && b < hi), outside = card.edges.filter(b => !(b > lo && b < hi));
    const snap = v => +(Math.round(v / unit) * unit).toPrecision(10), X = v => (v - lo) / (hi - lo) * 100 + "%", total = card.counts.flat().reduce((a, b) => a + b, 0);
    const groups = () => { const e = [lo, ...borders, hi]; return e.slice(0, -1).map((f, i) => { const s = Array(card.counts[0].length).fill(0); ns.forEach((v, j) => { if (v >= f && v < e[i + 1]) card.counts[j].forEach((n, k) => { s[k] += n; }); }); return { from: f, to: e[i + 1], s, n: s.reduce((a, b) => a + b, 0) }; }); };
    const name = g => g.to === hi ? `${g.from} and over` : g.from === lo ? `under ${g.to}` : unit === 1 ? `${g.from}–${g.to - 1}` : `${g.from} to under ${g.to}`;
    const describe = (h, i, g) => set(h, { "aria-valuenow": borders[i], "aria-valuemin": lo + unit, "aria-valuemax": hi - unit, "aria-valuetext": `${borders[i]}; ${name(g[i])} has ${number(g[i].n)} rows, ${name(g[i + 1])} has ${number(g[i + 1].n)}` });
    const place = () => {                                        // everything where it belongs, without making it anew
      const g = groups(), bands = $$(".band", box), shares = $$("[data-shares] text", box), handles = $$(".handle", box);
      g.forEach((x, i) => {
        set(bands[i], { x: X(x.from), width: (x.to - x.from) / (hi - lo) * 100 + "%" });
        set(shares[i], { x: X((x.from + x.to) / 2) }); shares[i].textContent = (x.to - x.from) / (hi - lo) < .06 ? "" : Math.round(x.n / total * 100) + "\u202f%";
      });
      handles.forEach((h, i) => { const x = X(borders[i]); $$("line", h).forEach(l => set(l, { x1: x, x2: x })); set($(".reach", h), { x }); set($("circle", h), { cx: x }); set($("text", h), { x }); $("text", h).textContent = borders[i]; describe(h, i, g); });
      $$(`[data-groups="${c}"] tbody tr`).forEach((r, i) => { r.children[0].textContent = name(g[i]); const n = $("input", r); if (n && document.activeElement !== n) n.value = g[i].from; r.children[2].textContent = number(g[i].n); r.children[3].textContent = (g[i].n / total * 100).toFixed(1) + "\u202f%"; });
      told(c, g.map(x => x.s));
    };
    const move = (i, v) => { const min = (i ? borders[i - 1] : lo) + unit, max = (i < borders.length - 1 ? borders[i + 1] : hi) - unit; borders[i] = snap(Math.max(min, Math.min(max, v))); stale(); place(); };
    const keep = what => { const all = [...borders, ...outside].sort((a, b) => a - b); change("bins", { column: card.key, edges: all.map(String) }, what).then(() => part("thin")).catch(() => {}); };
    const handle = (b, i) => {
      const h = svg("g", { class: "handle", tabindex: 0, role: "slider", "aria-label": `Border ${i + 1} of ${borders.length} of ${card.key.slice(0, 60)}` });
      h.append(svg("rect", { class: "reach", transform: "translate(-14 0)", width: 28, y: 0, height: tall + 30 }), svg("line", { class: "l-ink", y1: 30, y2: tall, "stroke-width": 1.5 }), svg("circle", { class: "grip", cy: tall, r: 8 }), svg("text", { class: "mid strong", y: tall + 26 }));
      h.addEventListener("pointerdown", d => { d.preventDefault(); h.focus(); h.setPointerCapture(d.pointerId); const r = box.getBoundingClientRect(), go = m => move(i, (m.clientX - r.left) / r.width * (hi - lo) + lo); h.addEventListener("pointermove", go); h.addEventListener("pointerup", () => { h.removeEventListener("pointermove", go); keep(`Border moved to ${borders[i]}.`); }, { once: true }); });
      h.addEventListener("keydown", k => { const s = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 5, PageDown: -5 }[k.key]; if (!s) return; k.preventDefault(); move(i, borders[i] + s * unit); keep(`Border moved to ${borders[i]}.`); });
      return h;
    };
    const make = () => {                                         // anew, when the number of groups has changed
      const count = borders.length + 1;
      $("[data-bands]", box).replaceChildren(...Array.from({ length: count }, (_, i) => svg("rect", { class: `band ${i % 2 ? "m-soft" : "m-sunken"}`, "fill-opacity": .55, y: 0, height: tall })));
      $("[data-shares]", box).replaceChildren(...Array.from({ length: count }, () => svg("text", { class: "share mid strong", y: 18 })));
      $("[data-handles]", box).replaceChildren(...borders.map(handle));
      const body = $(`[data-groups="${c}"] tbody`); body.replaceChildren();
      for (let i = 0; i < count; i++) {
        const r = body.insertRow(); r.append(Object.assign(document.createElement("th"), { scope: "row" })); const start = r.insertCell();
        if (i) { const n = document.createElement("input"); Object.assign(n, { type: "number", className: "short", step: unit }); n.setAttribute("aria-label", `First number of group ${i + 1}`); n.addEventListener("change", () => { move(i - 1, Number.isFinite(+n.value) ? +n.value : borders[i - 1]); keep(`Border moved to ${borders[i - 1]}.`); }); start.append(n); } else start.textContent = lo;
        [0, 1].forEach(() => { r.insertCell().className = "num"; });
      }
      place();
    };
    const settle = (next, what) => { borders = [...new Set(next.map(snap))].filter(b => b > lo && b < hi).sort((a, b) => a - b); stale(); make(); keep(what); };
    const quantiles = parts => { let run = 0; const cut = []; ns.forEach((v, j) => { if (cut.length < parts - 1 && run >= total * (cut.length + 1) / parts) cut.push(v); run += card.counts[j].reduce((a, b) => a + b, 0); }); return cut; };
    $(`[data-add="${c}"]`).addEventListener("click", () => { const g = groups(), w = g.reduce((m, x) => x.n > m.n && x.to - x.from > unit * 1.5 ? x : m, { n: -1 }); if (w.n < 0) { toast("No group is wide enough."); return; } let run = 0, at = snap((w.from + w.to) / 2); for (let j = 0; j < ns.length; j++) if (ns[j] >= w.from && ns[j] < w.to) { run += card.counts[j].reduce((a, b) => a + b, 0); if (run >= w.n / 2) { at = snap(Math.max(w.from + unit, Math.min(w.to - unit, ns[j]))); break; } } settle([...borders, at], `Border added at ${at}.`); });
    $(`[data-drop-border="${c}"]`).addEventListener("click", () => { if (!borders.length) { toast("There is none."); return; } const g = groups(); let least = 0; borders.forEach((_, i) => { if (g[i].n + g[i + 1].n < g[least].n + g[least + 1].n) least = i; }); const gone = borders[least]; settle(borders.filter((_, i) => i !== least), `Border at ${gone} taken away.`); });
    $(`[data-equal="${c}"]`).addEventListener("click", () => settle(quantiles(borders.length + 1 || 6), "Equal shares."));
    $(`[data-even="${c}"]`).addEventListener("click", () => { const parts = borders.length + 1, raw = (hi - lo) / parts, p = 10 ** Math.floor(Math.log10(raw)), w = [1, 2, 5, 10].map(f => f * p).find(x => x >= raw * .75) || p * 10; const cut = []; for (let v = Math.ceil(lo / w) * w; v < hi; v += w) if (v > lo) cut.push(v); settle(cut, `Steps of ${w}.`); });
    shown.set(c, place); make();
  };
  cards.forEach((card, c) => { if ($(`[data-bins="${c}"]`)) binned(c, card); else if (card.kind === "values") listed(c, card); });
  const first = Math.max(0, cards.findIndex((card, c) => card.role === "release" && shown.has(c))); shown.get(first)?.();
}

/* promise: two sliders, one picture. The need sets the smallest epsilon; epsilon moves the cursor and every number */
if (data.curves) {
  const { curves, largest, smallest } = data, eps = $("#eps"), need = $("#need"), tall = +$("#trade").getAttribute("height"), kinds = Object.keys(curves);
  const at = (c, e, k = "value") => {
    if (!c.length) return null; if (e <= c[0].epsilon) return e < c[0].epsilon - .03 ? null : c[0][k];
    const i = c.findIndex(p => p.epsilon >= e); if (i < 0) return e > c[c.length - 1].epsilon + .01 ? null : c[c.length - 1][k];
    const a = c[i - 1], b = c[i]; return a[k] + (e - a.epsilon) / (b.epsilon - a.epsilon) * (b[k] - a[k]);
  };
  const told = (c, e) => { const v = at(c, e); return v === null ? "—" : (at(c, e, "bound") - v > .02 ? "≥ " : "") + percent(v); };   // more may be possible
  const least = (c, v) => { for (let e = smallest; e <= largest + 1e-9; e += .01) { const x = at(c, e); if (x !== null && x >= v) return e; } return null; };
  const purpose = () => $("[name=purpose]:checked").value;
  const path = c => c.length < 2 ? "" : "M" + c.map(p => `${(p.epsilon / largest * 1000).toFixed(1)} ${(tall * (1 - p.value)).toFixed(1)}`).join(" L");
  const lines = () => kinds.forEach(k => {
    const c = curves[k]; set($("#line-" + k), { d: path(c) });
    const open = c.length > 1 && c.some(p => p.bound - p.value > .01);
    set($("#possible-" + k), { d: open ? path(c) + " L" + [...c].reverse().map(p => `${(p.epsilon / largest * 1000).toFixed(1)} ${(tall * (1 - Math.min(1, p.bound))).toFixed(1)}`).join(" L") + "Z" : "" });
  });
  const seeking = $("[data-working=need]"), computed = (c, e) => c.some(p => Math.abs(p.epsilon - e) < 1e-9);
  let exact = data.exact;                                        // the slider has steps, the promise has not
  const draw = () => {
    const e = exact, p = purpose(), v = at(curves[p], e), n = need.value / 100, x = e / largest * 100 + "%", right = e > largest * .6;
    set($("#cursor"), { x1: x, x2: x }); const l = $("#cursor-label"); set(l, { x, dx: right ? -10 : 10 }); l.classList.toggle("end", right); l.textContent = "chances " + factor(e) + " at most";
    kinds.forEach(k => { const y = at(curves[k], e), d = $("#dot-" + k); set(d, y === null ? { visibility: "hidden" } : { visibility: "visible", cx: x, cy: tall * (1 - y), r: k === p ? 7 : 4.5 }); say(k, told(curves[k], e)); $("#line-" + k).classList.toggle("thin", k !== p); $("#possible-" + k).setAttribute("visibility", k === p ? "visible" : "hidden"); });
    set($("#need-line"), { y1: tall * (1 - n), y2: tall * (1 - n) }); set($("#need-area"), { y: tall * (1 - n), height: tall * n }); set($("#need-label"), { y: tall * (1 - n) + 16 }); say("needed", need.value + "\u202f%");
    const o = data.other, now = o && o.purpose === p && Math.abs(o.epsilon - e) < 1e-9; say("reads-own", told(curves[p], e)); say("reads-other", now ? (o.bound - o.value > .02 ? "≥ " : "") + percent(o.value) : "—");
    say("factor", factor(e)); say("eps", (Math.ceil(e * 100 - 1e-9) / 100).toFixed(2)); say("value", told(curves[p], e)); say("words", data.words[p]);
    say("short", v === null ? "To be computed." : v + 1e-9 >= n ? "" : `That is less than the ${need.value}\u202f% you asked for.`);
    say("preview", v === null || computed(curves[p], e) ? "" : seeking.hidden ? "Read off the curve between its points; step 5 computes it." : "A preview, read off the curve.");
    if (data.share) { const s = data.share, g = Math.exp(e); say("low", (100 * (data.ratio ? s / g : s / (s + (1 - s) * g))).toFixed(1)); say("high", Math.min(100, 100 * (data.ratio ? s * g : s * g / (1 - s + s * g))).toFixed(1)); }
    eps.setAttribute("aria-valuetext", `chances ${factor(e)} at most, ${v === null ? "not computed yet" : percent(v) + " " + data.words[p]}`); need.setAttribute("aria-valuetext", `at least ${need.value} percent ${data.words[p]}`);
  };
  parts.told = draw;
  const keep = () => change("epsilon", exact, `Promise: chances ${factor(exact)} at most.`).then(() => part("other")).catch(() => {});
  const byHand = () => { exact = +eps.value; seeking.hidden = true; say("need-words", ""); draw(); };
  const preview = () => { const e = least(curves[purpose()], need.value / 100); if (e !== null) { exact = +e.toFixed(2); eps.value = exact; } say("need-words", ""); draw(); };
  const found = t => {                                           // by halving, in the background; the studio has saved it
    if (t.state !== "done" || !t.answer) { reload(); return; }
    seeking.hidden = true; exact = t.answer.epsilon; eps.value = exact.toFixed(2); add(t.answer.points); lines(); draw();
    say("need-words", !t.answer.reached ? `Even ${factor(largest)} gives ${percent(t.answer.share)}. Ask for less, form larger groups, or let the rules read the secret.` : t.answer.stopped ? "Stopped; a smaller promise may give it too." : "The smallest promise that gives it, to a hundredth part of ε.");
    part("other").catch(() => {});
    toast(t.answer.reached ? `${need.value}\u202f% needs chances ${factor(exact)} at most.` : `${need.value}\u202f% is not reached.`, "Undo", undo);
  };
  let asked = 0;                                                 // a newer need is waited for, not an older one
  const seek = () => { const mine = ++asked; seeking.hidden = false; $("[data-stop]", seeking).disabled = false; set($("[data-found]", seeking), { width: 0 }); watch(seeking, t => { if (mine === asked && !seeking.hidden) found(t); }); draw(); };
  const add = points => points.forEach(p => { const c = curves[p.purpose]; if (c && !c.some(q => q.epsilon === p.epsilon)) { c.push(p); c.sort((a, b) => a.epsilon - b.epsilon); } });
  eps.addEventListener("input", byHand); eps.addEventListener("change", keep);
  need.addEventListener("input", preview);
  need.addEventListener("change", () => change("need", need.value / 100, `At least ${need.value}\u202f% needed.`).then(seek));
  $$("[name=purpose]").forEach(r => r.addEventListener("change", () => { draw(); change("purpose", r.value, "Purpose changed.", true); }));
  $("#trade").addEventListener("pointerdown", d => {
    const b = $("#trade").getBoundingClientRect(), move = m => { eps.value = Math.max(smallest, Math.min(largest, (m.clientX - b.left) / b.width * largest)).toFixed(2); byHand(); };
    move(d); addEventListener("pointermove", move); addEventListener("pointerup", () => { removeEventListener("pointermove", move); keep(); }, { once: true });
  });
  document.addEventListener("points", e => {
    add(e.detail.points); if (e.detail.task === "curve" && e.detail.news.total) say("progress", `${e.detail.news.done} of ${e.detail.news.total} points`);
    if (!seeking.hidden) preview(); lines(); draw();
  });
  const whole = async () => {                                    // the curve is there: its table and the example, without a jump
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html"), off = d => $$("[name=purpose]:disabled", d).length;
    if (off(page) !== off(document) || $("[role=alert]", page)) { reload(); return; }
    const next = $$("[data-fresh]", page); $$("[data-fresh]").forEach((e, i) => e.replaceWith(next[i])); $("[data-curve]").remove();
    const told = JSON.parse($("#data", page).textContent); data.share = told.share; kinds.forEach(k => add(told.curves[k])); lines(); draw(); part("other").catch(() => {});
  };
  if ($("[data-curve]")) watch($("[data-curve]"), () => whole().catch(reload));
  if (data.seeking) { lines(); preview(); seek(); } else { lines(); draw(); }
}

/* check: how many rows an analyst will have */
if (data.bars) {
  const n = $("#rows"), reach = .05;
  const draw = () => {
    const N = data.steps[+n.value]; say("n", number(N)); n.setAttribute("aria-valuetext", number(N) + " rows");
    const pc = x => Math.max(0, Math.min(1, x / reach / 2 + .5)) * 100 + "%", up = x => "± " + (Math.ceil(x * 1000 - 1e-9) / 10).toFixed(1);
    data.bars.forEach((b, i) => {
      const clean = 1.96 * Math.sqrt(b.vc / N); set($(`#b${i} .clean`), { x1: pc(-clean), x2: pc(clean) }); say("pc" + i, up(clean));
      if (b.v !== null) { const rel = 1.96 * Math.sqrt(b.v / N); set($(`#b${i} .rel`), { x1: pc(-rel), x2: pc(rel) }); say("pm" + i, up(rel)); }
    });
  };
  n.addEventListener("input", draw); draw();
}
