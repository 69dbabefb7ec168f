// The data as a file, and back to the start.
import { button, checkbox, field, form, h, input, save } from '../element.js'
import { post, put, send } from '../server.js'
import { t } from '../text.js'

export const id = 'datos'

const parts = ['journal', 'faults', 'quotas', 'locks', 'clock', 'data']
const file = input('file', { type: 'file', accept: '.json,application/json', required: true })

export const make = () => [h('div', { class: 'cards' },
  card('download', h('div', { class: 'actions' }, button('download', download))),
  card('upload', form('upload', async () => put('data', await file.files[0].text()), 'upload', field('file', file))),
  card('reset', form('reset', async (values) => {
    const chosen = parts.filter((part) => values[part])
    if (chosen.length === 0) throw new Error(t('chooseParts'))
    await post('reset', { parts: chosen })
  }, 'resetChosen', h('fieldset', {}, h('legend', {}, t('parts')), parts.map((part) => checkbox(part, t(`part_${part}`)))))))]

const card = (name, content) => h('article', { class: 'card' }, h('h3', {}, t(name)), h('p', { class: 'hint' }, t(`${name}Means`)), content)

const download = async () => save('fiscope-mock.json', await (await send('GET', 'data')).blob())
