// Asking the interface, and what to do if it does not answer.

const tokenKey = "penstock-token";
const patience = 5000; // milliseconds

class Refused extends Error {}
class Stranger extends Error {}

// ask returns what is at a path. The token goes nowhere but to where the page
// came from.
async function ask(path, stop) {
  const token = sessionStorage.getItem(tokenKey);
  const answer = await fetch(path, {
    headers: token ? { Authorization: "Bearer " + token } : {},
    cache: "no-store", credentials: "omit", redirect: "error",
    signal: AbortSignal.any([stop, AbortSignal.timeout(patience)]),
  });
  if (answer.status === 401) throw new Stranger();
  return answer;
}

async function askFor(path, stop) {
  const answer = await ask(path, stop);
  if (answer.ok) return answer.json();
  let why = answer.status + " " + answer.statusText;
  try {
    why = (await answer.json()).error || why;
  } catch { /* it says no more than its status */ }
  throw new Refused(why);
}

// look asks for all that is shown, one after the other: the interface serves
// few connections at once.
async function look(stop) {
  const health = await ask("/healthz", stop);
  await health.text();
  const { virtuals } = await askFor("/v1/virtuals", stop);
  const taps = [];
  if (virtuals.some((v) => v.front === "tap")) taps.push(await askFor("/v1/tap", stop));
  const { pools } = await askFor("/v1/pools", stop);
  const waiters = await askFor("/v1/waiters?limit=20", stop);
  return { draining: health.status === 503, virtuals, taps, pools, waiters };
}
