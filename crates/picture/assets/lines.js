// Many arrows at once, as lines in the pixels of the picture that `bars.js` makes.
//
// Browsers without a graphics card take some 20 us for each line of a path. A line here is the pixels along it, each
// covered as far as the line reaches into it: of a line that is w wide and rather flat than steep, each column holds
//
//   [y - h, y + h]   with h = w / 2 * sqrt(1 + slope^2)
//
// and steep ones hold that of each row.

class Lines {
  // So many pixels in each line of the picture, and so many of them for each unit of length.
  constructor(pixels, wide, ratio) {
    [this.pixels, this.wide, this.tall, this.ratio] = [pixels, wide, pixels.length / wide, ratio];
  }

  // From a cause to its effect, with a head of so many units; dashed where that is reversed.
  arrow([x1, y1], [x2, y2], { colour, alpha, dashed, head }) {
    const { ratio } = this, stroke = (fromX, fromY, toX, toY, dashes) => this.line(fromX * ratio, fromY * ratio, toX * ratio, toY * ratio, colour, alpha, dashes);
    stroke(x1, y1, x2, y2, dashed ? [6 * ratio, 3 * ratio] : null);
    if (!head) return;
    const angle = Math.atan2(y2 - y1, x2 - x1);
    for (const turn of [2.7, -2.7]) stroke(x2, y2, x2 + head * Math.cos(angle + turn), y2 + head * Math.sin(angle + turn), null);
  }

  line(x1, y1, x2, y2, colour, alpha, dashes) {
    const steep = Math.abs(y2 - y1) > Math.abs(x2 - x1);
    // Along the axis on which it is longer, and across that.
    const [begin, across, end, acrossEnd] = steep ? [y1, x1, y2, x2] : [x1, y1, x2, y2];
    const slope = (acrossEnd - across) / (end - begin || 1), stretch = Math.sqrt(1 + slope * slope), half = this.ratio / 2 * stretch;
    const [most, mostAcross] = steep ? [this.tall, this.wide] : [this.wide, this.tall];
    const [step, stepAcross] = steep ? [this.wide, 1] : [1, this.wide];
    const first = Math.max(0, Math.round(Math.min(begin, end))), last = Math.min(most - 1, Math.max(first, Math.round(Math.max(begin, end)) - 1));
    const [drawn, period] = dashes ? [dashes[0] / stretch, (dashes[0] + dashes[1]) / stretch] : [Infinity, Infinity];
    const covers = alpha * 256;
    // The middle of pixels lies half of one behind their number.
    let from = across + (first + 0.5 - begin) * slope - half, dashed = 0;
    for (let at = first; at <= last; at++, from += slope, dashed = dashed + 1 < period ? dashed + 1 : dashed + 1 - period) {
      if (dashed >= drawn) continue;
      const to = from + 2 * half;
      let pixel = Math.floor(from), index = at * step + pixel * stepAcross;
      for (; pixel < to; pixel++, index += stepAcross) {
        if (pixel < 0 || pixel >= mostAcross) continue;
        const covered = (to < pixel + 1 ? to : pixel + 1) - (from > pixel ? from : pixel);
        this.blend(index, colour, (covers * covered) | 0);
      }
    }
  }

  // Puts a colour, as far as it covers a pixel, in 256ths, on what is there, which may be nothing.
  blend(at, colour, covers) {
    const { pixels } = this, below = pixels[at], under = below >>> 24;
    // Of what is transparent its colour does not count.
    const alpha = covers + ((under + 1) * (256 - covers) >> 8), share = under === 255 ? covers : under === 0 ? 256 : (covers << 8) / Math.max(1, alpha) | 0;
    // Red and blue at once, as neither reaches the other within 16 bits.
    const outer = Math.imul(below & 0xff00ff, 256 - share) + Math.imul(colour & 0xff00ff, share) >>> 8 & 0xff00ff;
    const green = Math.imul(below & 0xff00, 256 - share) + Math.imul(colour & 0xff00, share) >>> 8 & 0xff00;
    pixels[at] = Math.min(255, alpha) << 24 | outer | green;
  }
}
