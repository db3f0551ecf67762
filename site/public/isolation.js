/* A service worker that isolates the page from other origins where its server does not: only then browsers share memory between threads. */

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const own = new URL(event.request.url).origin === location.origin;
  if (own) event.respondWith(isolated(event.request));
});

async function isolated(request) {
  const response = await fetch(request);
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  const { status, statusText } = response;
  return new Response([101, 204, 205, 304].includes(status) ? null : response.body, { status, statusText, headers });
}
