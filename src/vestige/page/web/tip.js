/** The small box beside the pointer. */

export class Tip {
  constructor() {
    this.box = document.getElementById("tip");
  }

  show(event, lines) {
    this.box.textContent = lines.filter(Boolean).map((line) => line.slice(0, 400)).join("\n");
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const right = event.clientX + 14 + width > window.innerWidth;
    const below = event.clientY + 14 + height > window.innerHeight;
    this.box.style.left = `${Math.max(2, right ? event.clientX - width - 10 : event.clientX + 14)}px`;
    this.box.style.top = `${Math.max(2, below ? event.clientY - height - 10 : event.clientY + 14)}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}
