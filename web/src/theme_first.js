// Runs before the first paint; state/theme.svelte.ts owns the choice and the name it is kept under.
try {
  const theme = localStorage.getItem('kindred.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked: then there is no stored choice.
}
