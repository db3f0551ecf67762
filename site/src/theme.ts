type Theme = "light" | "dark";

/** Lets `button` switch between light and dark. The system's theme holds until it is used; the choice is remembered. */
export function offerThemes(button: HTMLButtonElement): void {
  const { dataset } = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const current = (): Theme => (dataset.theme as Theme | undefined) ?? (dark.matches ? "dark" : "light");
  const other = (): Theme => (current() === "dark" ? "light" : "dark");
  const label = (): void => {
    button.textContent = other() === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Switch to the ${other()} theme`);
  };
  const kept = remembered();
  if (kept) dataset.theme = kept;
  dark.addEventListener("change", label);
  button.onclick = () => {
    dataset.theme = other();
    remember(current());
    label();
  };
  label();
}

function remembered(): Theme | undefined {
  try {
    const kept = localStorage.getItem("theme");
    return kept === "dark" || kept === "light" ? kept : undefined;
  } catch {
    return undefined;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Keeps the choice for this page only if nothing may be stored.
  }
}
