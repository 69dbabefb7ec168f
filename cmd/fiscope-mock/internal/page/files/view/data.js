// The data as a file, and back to the start.
import { announce, button, field, form, h } from '../element.js'
import { post, put } from '../server.js'
import { t } from '../text.js'

export const id = 'datos'
export const title = 'data'

const parts = ['journal', 'faults', 'quotas', 'locks', 'clock', 'data']

export function make() {
  const file = h('input', { type: 'file', name: 'file', accept: '.json,application/json', required: true })
  return h('div', { class: 'cards' },
    h('article', { class: 'card' }, h('h3', {}, t('download')), h('p', { class: 'hint' }, t('downloadMeans')),
      h('div', { class: 'actions' }, button(t('download'), download))),
    h('article', { class: 'card' }, h('h3', {}, t('upload')), h('p', { class: 'hint' }, t('uploadMeans')),
      form(t('upload'), async (_, made) => {
        await put('data', await file.files[0].text())
        announce(t('uploaded', { name: file.files[0].name }))
        made.reset()
      }, t('upload'), field(t('file'), file))),
    h('article', { class: 'card' }, h('h3', {}, t('reset')), h('p', { class: 'hint' }, t('resetMeans')),
      form(t('reset'), async (values, made) => {
        const chosen = parts.filter((part) => values[part])
        if (chosen.length === 0) throw new Error(t('chooseParts'))
        await post('reset', { parts: chosen })
        announce(t('wasReset'))
        made.reset()
      }, t('resetChosen'), h('fieldset', {}, h('legend', {}, t('parts')), parts.map((part) =>
        h('label', { class: 'check' }, h('input', { type: 'checkbox', name: part }), t(`part_${part}`)))))))
}

async function download() {
  const response = await fetch('data')
  if (!response.ok) throw new Error((await response.json()).error)
  const link = h('a', { href: URL.createObjectURL(await response.blob()), download: 'fiscope-mock.json' })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  announce(t('downloaded'))
}

export const refresh = async () => {}
