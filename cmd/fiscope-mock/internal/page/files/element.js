// Elements, made without HTML: whatever came in a call can only be text.
import { t } from './text.js'

// h makes an element. A property that begins with "on" is a listener; false, null and undefined leave it out.
export function h(tag, properties, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value !== false && value != null) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false))
  return element
}

// named is the text of a key; what is no key stays as it is.
const named = (key) => (typeof key === 'string' && t(key)) || key

const announcement = h('p', { class: 'announcement', role: 'status' })
const failure = h('p', { class: 'announcement failure', role: 'alert' })
export const announcements = h('div', { class: 'announcements' }, announcement, failure)
let ends

const announce = (text) => say(announcement, text, 4000)

function say(where, text, lasts) {
  clearTimeout(ends)
  announcement.textContent = failure.textContent = ''
  where.textContent = text
  ends = setTimeout(() => { where.textContent = '' }, lasts)
}

const changed = () => window.dispatchEvent(new Event('changed'))

// button does something with the server, says what it returns as a text, shows what the server refuses, and has the
// view read again.
export function button(label, act, properties) {
  return h('button', { type: 'button', ...properties, async onclick() {
    try {
      const said = await act(this)
      if (typeof said === 'string') announce(said)
      changed()
    } catch (error) {
      say(failure, error.message, 12000)
    }
  } }, named(label))
}

export const buttons = (name, ...list) => list.filter(Boolean).map(([key, act, properties]) =>
  button(key, act, { 'aria-label': `${t(key)}: ${name}`, class: /^(delete|reset)/.test(key) && 'destroys', ...properties }))

export const field = (label, input, hint) => h('label', { class: 'field' }, h('span', {}, named(label)), input, hint && h('small', {}, named(hint)))

// input is a text to fill in; secret is one that is written, and never read.
export const input = (name, properties) => h('input', { name, autocomplete: 'off', spellcheck: 'false', ...properties })
export const secret = (name, properties) => input(name, { type: 'password', autocomplete: 'new-password', ...properties })
export const rucInput = (name, properties) => input(name, { required: true, pattern: '[0-9]{11}', inputmode: 'numeric', title: t('elevenDigits'), ...properties })

export const checkbox = (name, label, checked) => h('label', { class: 'check' }, h('input', { type: 'checkbox', name, checked }), label)

export const select = (properties, options, chosen) =>
  h('select', properties, options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)))

// form gives what was filled in to save, as an object by the names of the fields, and says what it returns as a text.
export function form(label, save, submit, ...fields) {
  const refusal = h('p', { class: 'refusal', role: 'alert' })
  const send = h('button', { class: 'primary' }, named(submit))
  const made = h('form', { 'aria-label': named(label), async onsubmit(event) {
    event.preventDefault()
    refusal.textContent = ''
    send.disabled = true
    try {
      const said = await save(Object.fromEntries(new FormData(made)))
      for (const secret of made.querySelectorAll('[type=password]')) secret.value = ''
      announce(typeof said === 'string' ? said : t('done'))
      changed()
    } catch (error) {
      refusal.textContent = error.message
    }
    send.disabled = false
  } }, fields, send, refusal)
  return made
}

// dialog opens a form over the page; Esc and the button close it.
export function dialog(title, save, ...fields) {
  const inside = form(title, async (values) => {
    await save(values)
    box.close()
  }, 'save', h('div', { class: 'fields' }, fields))
  inside.querySelector('.primary').after(h('button', { type: 'button', onclick: () => box.close() }, t('cancel')))
  const box = h('dialog', { 'aria-label': title, onclose: () => box.remove() }, h('h2', {}, title), inside)
  document.body.append(box)
  box.showModal()
}

// items shows a list in a container, one element each: what has not changed keeps its element, and what is
// being filled in is not taken away. The focus stays on the control that had it.
export function items(container, list, keyOf, make) {
  const old = container.items ?? new Map()
  container.items = new Map(list.map((item) => {
    const text = JSON.stringify(item)
    const shown = old.get(keyOf(item))
    if (shown && (shown.text === text || isFilledIn(shown.element))) return [keyOf(item), shown]
    const element = make(item)
    for (const [i, part] of [...element.cells ?? []].entries()) part.dataset.label = container.parentElement.tHead.rows[0].cells[i].textContent
    const at = shown ? controls(shown.element).indexOf(document.activeElement) : -1
    if (at >= 0) {
      shown.element.replaceWith(element)
      controls(element)[at]?.focus()
    }
    return [keyOf(item), { text, element }]
  }))
  arrange(container, [...container.items.values()].map(({ element }) => element))
}

const controls = (element) => [...element.querySelectorAll('button, input, select')]

function isFilledIn(element) {
  const active = document.activeElement
  return element.contains(active) && active.matches('input') && active.value !== active.defaultValue
}

// arrange makes elements the children of a container, moving no more than it must.
export function arrange(container, elements) {
  const keep = new Set(elements)
  for (const child of [...container.children]) if (!keep.has(child)) child.remove()
  let next = container.firstElementChild
  for (const element of elements) {
    if (element === next) next = next.nextElementSibling
    else container.insertBefore(element, next)
  }
}

// table has a caption for those who cannot see it, and columns: the name of each, which is its class too.
export const table = (caption, columns, body, kind = 'rows') => h('table', { class: kind },
  h('caption', { class: 'unseen' }, named(caption)),
  h('thead', {}, h('tr', {}, columns.map((name) => h('th', { scope: 'col', class: name }, named(name.split(' ')[0]))))), body)

export const head = (kind, ...content) => h('th', { scope: 'row', class: kind }, content)
export const cell = (kind, ...content) => h('td', { class: kind }, content)

// copy puts a text into the clipboard, also if a page has none: without https and loopback.
export async function copy(text, name) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text)
  else {
    const field = h('textarea', {}, text)
    document.body.append(field)
    field.select()
    document.execCommand('copy')
    field.remove()
  }
  announce(`${t('copied')}: ${name}`)
}

// save gives the browser a file.
export function save(name, content) {
  const link = h('a', { href: URL.createObjectURL(content), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

// code shows a text as it is; strong says which of its lines are.
export const code = (text, name, strong) => h('div', { class: 'code' },
  h('pre', { tabindex: 0, role: 'region', 'aria-label': name }, h('code', {}, strong
    ? text.split(/(?<=\n)/).map((line) => strong.test(line) ? h('b', {}, line) : line) : text)),
  button('copy', () => copy(text, name), { 'aria-label': `${t('copy')}: ${name}` }))
