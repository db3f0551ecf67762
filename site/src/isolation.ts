/**
 * Tells in `place` that WebAssembly has one thread where the page is not isolated from other origins, and why. Where a service worker can
 * isolate it, offers to load the page again with threads.
 */
export async function tellThreads(place: HTMLElement): Promise<void> {
  if (globalThis.crossOriginIsolated) return;
  place.hidden = false;
  place.textContent =
    "This browser gives the page no shared memory, so WebAssembly runs on one thread, and grids are smaller. WebGPU is not affected. ";
  try {
    await navigator.serviceWorker.register("isolation.js");
    await navigator.serviceWorker.ready;
  } catch {
    place.append("The server would have to send the headers Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy.");
    return;
  }
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Load again with threads";
  again.onclick = () => location.reload();
  place.append(again);
}
