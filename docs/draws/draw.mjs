// A draw from a public file, in a page of JavaScript: node draw.mjs public.json vectors.csv checks the test vectors.
// A client draws its 64-bit words from crypto.getRandomValues; whole numbers are BigInt throughout.
import { readFileSync } from "node:fs";

// Vose's alias table of one letter: for every slot the border in 64-bit words, and the outputs below and from it on.
export function table(outputs, weights, bits) {
  const slotBits = Math.max(1, Math.ceil(Math.log2(outputs.length)));
  const total = Math.max(bits, slotBits);
  const capacity = 1n << BigInt(total - slotBits);
  const left = Array.from({ length: 1 << slotBits }, (_, j) => BigInt(weights[j] ?? 0) << BigInt(total - bits));
  const slots = left.map((_, j) => [capacity, j, j]);
  const small = [], large = [];
  left.forEach((weight, j) => (weight < capacity ? small : large).push(j));
  while (small.length) {
    const j = small.pop(), donor = large[large.length - 1];
    slots[j] = left[j] > 0n ? [left[j], j, donor] : [capacity, donor, donor];
    left[donor] -= capacity - left[j];
    if (left[donor] < capacity) small.push(large.pop());
  }
  const spare = BigInt(64 - total);
  return {
    shift: BigInt(64 - slotBits),
    borders: slots.map(([threshold], j) => (BigInt(j) * capacity + threshold) << spare),
    choices: slots.map(([, first, second]) => [outputs[first], outputs[second]]),
  };
}

export function draw({ shift, borders, choices }, word) {
  const slot = Number(word >> shift);
  return choices[slot][word < borders[slot] ? 0 : 1];
}

// The tables of all letters, and one more for a record without a known letter.
export function tables(file) {
  const found = file.weights.outputs.map((outputs, z) => table(outputs, file.weights.values[z], file.bits));
  if (!file.law) return found;
  const possible = file.law.outputs.map((_, y) => y).filter((y) => BigInt(file.law.outputs[y]) > 0n);
  return [...found, table(possible, possible.map((y) => file.law.outputs[y]), file.bits)];
}

if (process.argv[1] && import.meta.url.endsWith("/draw.mjs") && process.argv.length === 4) {
  const all = tables(JSON.parse(readFileSync(process.argv[2], "utf8")));
  const lines = readFileSync(process.argv[3], "utf8").trim().split("\n").slice(1);
  const wrong = lines.filter((line) => {
    const [letter, word, output] = line.split(",");
    return draw(all[Number(letter)], BigInt(`0x${word}`)) !== Number(output);
  });
  console.log(`${lines.length - wrong.length} of ${lines.length} draws agree`);
  process.exit(wrong.length ? 1 : 0);
}
