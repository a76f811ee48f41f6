"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  const code = button.parentNode.querySelector("code");
  const name = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(code.textContent);
      done = true;
    } catch {
      getSelection().selectAllChildren(code);
      done = document.execCommand("copy");
    }
    button.textContent = done ? button.dataset.done : name;
    setTimeout(() => { button.textContent = name; }, 2000);
  });
}
