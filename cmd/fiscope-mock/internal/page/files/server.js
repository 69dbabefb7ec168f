// What the page asks of the server, and how it follows the calls.
import { language } from './text.js'

// send sends a request to the admin API. What the server refuses is an error with its text and what to do, in the page's language.
export async function send(method, path, body) {
  const options = { method, headers: { 'Accept-Language': language } }
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json'
    options.body = typeof body === 'string' ? body : JSON.stringify(body)
  }
  const response = await fetch(path, options)
  if (response.status === 401 && path !== 'session') window.dispatchEvent(new Event('token'))
  if (response.ok) return response
  const { error = `HTTP ${response.status}`, hint } = await response.json().catch(() => ({}))
  throw new Error(hint ? `${error}: ${hint}` : error)
}

// ask returns the answer's JSON, or null without one.
async function ask(method, path, body) {
  const response = await send(method, path, body)
  return response.status === 204 ? null : response.json()
}

export const get = (path) => ask('GET', path)
export const put = (path, body) => ask('PUT', path, body)
export const post = (path, body) => ask('POST', path, body)
export const remove = (path) => ask('DELETE', path)

export const segments = (...texts) => texts.map(encodeURIComponent).join('/')

const retryAfter = 1000 // milliseconds
const hiddenFor = 30000 // a tab that nobody sees lets its connection go: a browser has six of them

// follow gives every call to listener.calls as it comes and changes, also after the server was started again,
// which listener.cleared reports, and says in listener.live whether there is a connection.
export function follow(listener) {
  let stream, timer, sleeping
  let asleep = false
  let last = 0
  let instance = ''

  function open() {
    stream = new EventSource(last > 0 ? `requests/stream?since=${last}` : 'requests/stream')
    stream.addEventListener('hello', (event) => {
      const hello = JSON.parse(event.data)
      const restarted = instance !== '' && hello.instance !== instance
      instance = hello.instance
      listener.live(true)
      if (!restarted) return
      listener.cleared()
      if (last === 0) return
      stream.close() // it began there, in another journal
      last = 0
      open()
    })
    stream.addEventListener('request', (event) => {
      last = Number(event.lastEventId)
      listener.call(JSON.parse(event.data))
    })
    stream.addEventListener('cleared', (event) => {
      last = Number(event.lastEventId)
      listener.cleared(JSON.parse(event.data).key)
    })
    stream.addEventListener('error', () => {
      stream.close()
      listener.live(false)
      timer = setTimeout(retry, retryAfter)
    })
  }

  // retry asks for the session first, which is always answered: with no connection, or without the token,
  // a stream would only fail.
  async function retry() {
    try {
      const session = await get('session')
      if (session.token) return window.dispatchEvent(new Event('token'))
      if (!asleep) open()
    } catch {
      timer = setTimeout(retry, retryAfter)
    }
  }

  function sleep() {
    asleep = true
    clearTimeout(timer)
    stream.close()
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(sleeping)
    if (document.hidden) {
      sleeping = setTimeout(sleep, hiddenFor)
    } else if (asleep) {
      asleep = false
      retry()
    }
  })
  // A page that the browser keeps for its Back button would hold its connection.
  window.addEventListener('pagehide', sleep)
  open()
}
