// Elements, made without HTML text: whatever came in a call can only be text.
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

const announcement = h('p', { class: 'announcement', role: 'status' })
const failure = h('p', { class: 'announcement failure', role: 'alert' })
export const announcements = h('div', { class: 'announcements' }, announcement, failure)
let ends

// announce says what was done; fail says why it was not.
export function announce(text) { say(announcement, text, 4000) }
export function fail(error) { say(failure, error.message, 12000) }

function say(where, text, lasts) {
  clearTimeout(ends)
  announcement.textContent = failure.textContent = ''
  where.textContent = text
  ends = setTimeout(() => { where.textContent = '' }, lasts)
}

// button does something with the server, and shows what it refuses.
export function button(label, act, properties) {
  return h('button', { type: 'button', ...properties, async onclick() {
    try { await act(this) } catch (error) { fail(error) }
  } }, label)
}

// field is an input with its label.
export function field(label, input, hint) {
  return h('label', { class: 'field' }, h('span', {}, label), input, hint && h('small', {}, hint))
}

// secret is a field that is written, and never read.
export function secret(name, properties) {
  return h('input', { type: 'password', name, autocomplete: 'new-password', spellcheck: 'false', ...properties })
}

// select has options of [value, label].
export function select(properties, options, chosen) {
  return h('select', properties, options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)))
}

// form gives what was filled in to save, as an object by the names of the fields.
export function form(label, save, submit, ...fields) {
  const refusal = h('p', { class: 'refusal', role: 'alert' })
  const made = h('form', { 'aria-label': label, async onsubmit(event) {
    event.preventDefault()
    refusal.textContent = ''
    const send = made.querySelector('[type=submit]')
    send.disabled = true
    try {
      await save(Object.fromEntries(new FormData(made)), made)
    } catch (error) {
      refusal.textContent = error.message
    }
    send.disabled = false
  } }, fields, h('button', { type: 'submit', class: 'primary' }, submit), refusal)
  return made
}

// dialog opens a form over the page; Esc and the button close it.
export function dialog(title, save, submit, ...content) {
  const cancel = h('button', { type: 'button', onclick: () => box.close() }, t('cancel'))
  const heading = h('h2', { id: 'dialog-title' }, title)
  const inside = form(title, async (values) => { await save(values); box.close() }, submit, h('div', { class: 'fields' }, content))
  inside.querySelector('[type=submit]').after(cancel)
  const box = h('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() }, heading, inside)
  document.body.append(box)
  box.showModal()
}

// items shows a list in a container, one element each: what has not changed keeps its element, and what is
// being filled in is not taken away. The focus stays on the control of the same name.
export function items(container, list, keyOf, make) {
  const old = container.items ?? new Map()
  const now = new Map()
  for (const item of list) {
    const key = keyOf(item)
    const text = JSON.stringify(item)
    let shown = old.get(key)
    if (!shown || (shown.text !== text && !isFilledIn(shown.element))) {
      const element = make(item)
      if (shown?.element.contains(document.activeElement)) {
        const name = document.activeElement.dataset.focus
        shown.element.replaceWith(element)
        element.querySelector(`[data-focus="${name}"]`)?.focus()
      }
      shown = { text, element }
    }
    now.set(key, shown)
  }
  container.items = now
  arrange(container, [...now.values()].map((shown) => shown.element))
}

function isFilledIn(element) {
  const active = document.activeElement
  return element.contains(active) && active.matches('input, select') && active.value !== active.defaultValue
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

// table has a caption for those who cannot see it, and its columns: [name, class].
export function table(caption, columns, body, properties) {
  return h('table', properties, h('caption', { class: 'unseen' }, caption),
    h('thead', {}, h('tr', {}, columns.map(([name, kind]) => h('th', { scope: 'col', class: kind }, name)))), body)
}

// code is text to copy.
export function code(text, name) {
  return h('div', { class: 'code' }, h('pre', { tabindex: 0, role: 'region', 'aria-label': name }, h('code', {}, text)),
    button(t('copy'), async (pressed) => {
      await copy(text)
      pressed.textContent = t('copied')
      announce(t('copiedWhat', { what: name }))
      setTimeout(() => { pressed.textContent = t('copy') }, 2000)
    }, { 'aria-label': t('copyWhat', { what: name }), class: 'copy' }))
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = h('textarea', { 'aria-hidden': 'true' }) // without https or loopback there is no clipboard
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
