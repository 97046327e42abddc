// Light, dark or the system's theme; remembered in this browser.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'kindred.theme';

function remembered(): Theme {
  try {
    const value = localStorage.getItem(key);
    return themes.find((theme) => theme === value) ?? 'system';
  } catch {
    return 'system';
  }
}

class ThemeChoice {
  current = $state<Theme>(remembered());

  apply(): void {
    if (this.current === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.current;
  }

  choose(theme: Theme): void {
    this.current = theme;
    this.apply();
    try {
      localStorage.setItem(key, theme);
    } catch {
      // Storage may be blocked: then the choice lasts as long as the page.
    }
  }
}

export const theme = new ThemeChoice();
