// A canvas image to fill with rectangles, dots and columns: a run has too many commands for canvas calls.

/** Pixels of a canvas, in device pixels; drawn with `put`. */
export class Pixels {
  constructor(context) {
    this.context = context;
    this.resize();
  }

  resize() {
    const { width, height } = this.context.canvas;
    this.image = new ImageData(Math.max(width, 1), Math.max(height, 1));
    this.width = this.image.width;
    this.height = this.image.height;
    this.data = new Uint32Array(this.image.data.buffer);
  }

  /** Fill columns x0 to x1 and rows y0 to y1 (both without the last), cut to the picture. */
  rect(x0, y0, x1, y1, color) {
    x0 = x0 < 0 ? 0 : x0 | 0;
    y0 = y0 < 0 ? 0 : y0 | 0;
    x1 = x1 > this.width ? this.width : x1 | 0;
    y1 = y1 > this.height ? this.height : y1 | 0;
    if (x0 >= x1) return;
    for (let y = y0; y < y1; y++) this.data.fill(color, y * this.width + x0, y * this.width + x1);
  }

  /** Fill a small square that lies within the picture. */
  dot(x, y, side, color) {
    const { width, data } = this;
    for (let row = y; row < y + side; row++) {
      const from = row * width + x;
      for (let at = from; at < from + side; at++) data[at] = color;
    }
  }

  /** Fill one column of the rows y0 to y1. */
  column(x, y0, y1, color) {
    const { width, data } = this;
    for (let at = y0 * width + x, end = y1 * width; at < end; at += width) data[at] = color;
  }

  put() {
    this.context.putImageData(this.image, 0, 0);
  }
}
