/** Opens a dialog over everything else while it is there, and gives focus back to where it was. */
export function modal(dialog: HTMLDialogElement) {
  const before = document.activeElement as HTMLElement | null;
  dialog.showModal();
  return {
    destroy() {
      dialog.close();
      const focus = document.activeElement;
      const nowhere = focus === null || focus === document.body || dialog.contains(focus);
      if (nowhere && before?.isConnected) before.focus({ preventScroll: true });
    },
  };
}
