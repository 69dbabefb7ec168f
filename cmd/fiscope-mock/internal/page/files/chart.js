// The rates of a month as two lines.
import { t } from './text.js'

const height = 220
const edge = { left: 52, right: 56, top: 16, bottom: 28 }

function svg(tag, properties, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value)
  if (text !== undefined) element.textContent = text
  return element
}

// chart draws days: {fecha, compra, venta}, of which some have no rate.
export function chart(days, label, width) {
  const drawn = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'chart' })
  const rates = days.flatMap(({ compra, venta }) => compra === undefined ? [] : [compra, venta])
  if (rates.length === 0) {
    drawn.append(svg('text', { x: width / 2, y: height / 2, 'text-anchor': 'middle' }, t('noRates')))
    return drawn
  }
  const step = niceStep(Math.max(...rates) - Math.min(...rates))
  const low = Math.floor(Math.min(...rates) / step) * step
  const high = Math.max(Math.ceil(Math.max(...rates) / step) * step, low + step)
  const x = (i) => edge.left + (i * (width - edge.left - edge.right)) / Math.max(days.length - 1, 1)
  const y = (rate) => height - edge.bottom - ((rate - low) * (height - edge.top - edge.bottom)) / (high - low)
  for (let rate = low; rate < high + step / 2; rate += step) {
    drawn.append(svg('line', { x1: edge.left, x2: width - edge.right, y1: y(rate), y2: y(rate), class: 'grid' }),
      svg('text', { x: edge.left - 8, y: y(rate) + 4, 'text-anchor': 'end' }, rate.toFixed(3)))
  }
  days.forEach(({ fecha }, i) => {
    const day = Number(fecha.slice(8))
    if (day === 1 || day % 5 === 0) drawn.append(svg('text', { x: x(i), y: height - 8, 'text-anchor': 'middle' }, day))
  })
  for (const name of ['compra', 'venta']) {
    const points = days.flatMap((day, i) => day[name] === undefined ? [] : [[x(i), y(day[name])]])
    drawn.append(svg('polyline', { points: points.map((point) => point.join(',')).join(' '), class: `line ${name}` }),
      ...points.map(([cx, cy]) => svg('circle', { cx, cy, r: 2.5, class: name })))
    const [endX, endY] = points.at(-1)
    drawn.append(svg('text', { x: endX + 8, y: endY + 4, class: name }, name))
  }
  return drawn
}

function niceStep(range) {
  const wanted = Math.max(range, 0.004) / 4
  const power = 10 ** Math.floor(Math.log10(wanted))
  return [1, 2, 5, 10].find((n) => n * power >= wanted) * power
}
