package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vars is an environment: names, each with its value.
func vars(pairs ...string) []string { return pairs }

// runMain runs the program in this process, in an environment, to its end.
func runMain(t *testing.T, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), status
}

// lookup asks for one taxpayer and returns the status and X-RateLimit-Limit.
func lookup(t *testing.T, url, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", key)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header.Get("X-RateLimit-Limit")
}

// serving runs the program in this process and returns its first line; its end is checked at cleanup.
func serving(t *testing.T, env []string, args ...string) (url string) {
	t.Helper()
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	status := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		status <- run(ctx, args, in, &stderr)
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		stop()
		assert.False(t, lines.Scan(), "nothing more on stdout")
		assert.Equal(t, 0, <-status)
		assert.Empty(t, stderr.String())
	})
	require.True(t, lines.Scan())
	return lines.Text()
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		env        []string
		args       []string
		key, limit string
	}{
		"serve":       {vars(), []string{"serve", "-addr", "127.0.0.1:0"}, "clave-de-prueba", "1000"},
		"flags":       {vars(), []string{"-addr", "127.0.0.1:0", "-api-key=k", "-quota", "7"}, "k", "7"},
		"environment": {vars("FISCOPE_MOCK_ADDR", "127.0.0.1:0", "FISCOPE_MOCK_API_KEY", "e", "FISCOPE_MOCK_QUOTA", "8"), nil, "e", "8"},
		"flag wins": {
			vars("FISCOPE_MOCK_ADDR", "nowhere", "FISCOPE_MOCK_API_KEY", "e e", "FISCOPE_MOCK_QUOTA", "many"),
			[]string{"-addr", ":0", "-api-key", "k", "-quota", "9"}, "k", "9",
		},
		"unlimited": {vars(), []string{"-addr", "127.0.0.1:0", "-quota", "-1"}, "clave-de-prueba", ""},
		"odd key":   {vars(), []string{"-addr", "127.0.0.1:0", "-api-key", "a'$b"}, "a'$b", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			url := serving(t, c.env, c.args...)
			assert.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, url)
			status, limit := lookup(t, url, c.key)
			assert.Equal(t, 200, status)
			assert.Equal(t, c.limit, limit)
		})
	}
}

func TestRunRefuses(t *testing.T) {
	busy := busy(t)
	for name, c := range map[string]struct {
		env    []string
		args   []string
		status int
		says   string
	}{
		"unknown flag":    {vars(), []string{"-quta", "1"}, 2, "no existe la opción -quta: ¿quiso decir -quota?\nvea fiscope-mock help serve\n"},
		"help of nothing": {vars(), []string{"-h", "nada"}, 2, "no existe el comando 'nada'\n"},
		"unknown of exec": {vars(), []string{"exec", "--quot", "1"}, 125, "no existe la opción -quot: ¿quiso decir -quota?\nvea fiscope-mock help exec\n"},
		"unknown command": {vars(), []string{"exce", "--", "ls"}, 2, "no existe el comando \"exce\": ¿quiso decir exec? Los comandos son serve, exec, health, padron, version, completion\nvea fiscope-mock help\n"},
		"unknown shell":   {vars(), []string{"completion", "basch"}, 2, "¿quiso decir bash? Los comandos son bash, zsh, fish, pwsh\nvea fiscope-mock help completion\n"},
		"nothing like it": {vars(), []string{"8080"}, 2, "no existe el comando \"8080\": los comandos son "},
		"command at last": {vars(), []string{"-quota", "5", "exec", "--", "ls"}, 2, "el comando exec va primero"},
		"without a value": {vars(), []string{"-api-key"}, 2, "falta el valor de -api-key\n"},
		"quota":           {vars(), []string{"-quota", "mil"}, 2, "valor inválido \"mil\" de -quota: se espera un número de consultas"},
		"quota variable":  {vars("FISCOPE_MOCK_QUOTA", "mil"), nil, 2, `FISCOPE_MOCK_QUOTA="mil": se espera un número de consultas`},
		"address":         {vars(), []string{"-addr", "8080"}, 2, `"8080" de -addr o FISCOPE_MOCK_ADDR no sirve: falta el puerto`},
		"empty address":   {vars(), []string{"-addr", ""}, 2, "está vacía"},
		"empty key":       {vars(), []string{"-api-key", ""}, 2, "la clave de API está vacía"},
		"its quota alone": {vars(), []string{"-api-key", "=5"}, 2, "la clave de API está vacía"},
		"key variable":    {vars("FISCOPE_MOCK_API_KEY", "a\x7f"), []string{"-addr", "127.0.0.1:0"}, 2, "no es ASCII imprimible"},
		"empty code":      {vars("FISCOPE_MOCK_ASSUME", "CodeInvalidRUC="), nil, 2, "CodeInvalidRUC está vacío: dé un código\n"},
		"no data":         {vars(), []string{"-data", "no.json"}, 2, "no.json: no existe"},
		"time too early":  {vars(), []string{"-now", "1960-01-01T00:00:00Z"}, 2, "-now: se espera una hora"},
		"port in use":     {vars(), []string{"-addr", busy}, 1, "no puede atender en " + busy + ": otro programa ya atiende ahí\n"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runMain(t, c.env, c.args...)
			assert.Equal(t, c.status, status)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, "fiscope-mock: ")
			assert.Contains(t, stderr, c.says)
			assert.NotRegexp(t, `With[A-Z]|Assumptions\.|DefaultAssumptions|mockserver`, stderr, "the names of Go")
		})
	}
}

// Help is a screen for the program, and a text of its own for each command; none is wider than a terminal.
func TestHelp(t *testing.T) {
	for args, says := range map[string][]string{
		"-h":                 {"Uso: fiscope-mock [COMANDO]", "  serve ", "  exec ", "  completion ", "  help ", "-addr", "-api-key", "-data", "127.0.0.1:8080"},
		"serve -h":           {"fiscope-mock serve: ", "-addr HOST:PUERTO (FISCOPE_MOCK_ADDR)", "-tls (FISCOPE_MOCK_TLS)", "clave-de-prueba"},
		"-quota 5 --help":    {"fiscope-mock serve: "},
		"help exec":          {"fiscope-mock exec: ", "-data ARCHIVO (FISCOPE_MOCK_DATA)", "-quota N"},
		"health -help":       {"fiscope-mock health: ", "FISCOPE_MOCK_TLS_CA_FILE"},
		"padron -h":          {"fiscope-mock padron: ", "  import ", "  generate "},
		"help padron import": {"fiscope-mock padron import: ", "-o ÍNDICE\n"},
		"padron generate -h": {"-rows N\n"},
		"completion -h":      {"source <(fiscope-mock completion bash)"},
		"help version":       {"fiscope-mock version: "},
		"completion fish -h": {"fiscope-mock completion fish"},
		"padron info --help": {"fiscope-mock padron info: "},
	} {
		stdout, stderr, status := runMain(t, nil, strings.Fields(args)...)
		assert.Equal(t, 0, status, args)
		assert.Empty(t, stderr, args)
		for _, word := range says {
			assert.Contains(t, stdout, word, args)
		}
		for line := range strings.Lines(stdout) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%q with its line end", line)
		}
		assert.NotRegexp(t, `(?i)options|usage:|show help|print the|output `, stdout, "it is in Spanish")
		if args == "-h" {
			assert.LessOrEqual(t, strings.Count(stdout, "\n"), 40)
			for _, flag := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(stdout, -1) {
				assert.True(t, slices.ContainsFunc(serveSettings, func(s setting) bool { return s.name == flag[1] }), flag[1])
			}
			help, _, _ := runMain(t, nil, "help")
			assert.Equal(t, stdout, help)
		}
	}
}

func TestCompletion(t *testing.T) {
	for shell, says := range map[string]string{"bash": "complete -o", "zsh": "compdef _fiscope-mock fiscope-mock", "fish": "complete -c fiscope-mock"} {
		stdout, stderr, status := runProgram(t, nil, "completion", shell)
		assert.Equal(t, 0, status)
		assert.Empty(t, stderr)
		assert.Contains(t, stdout, says)
	}
	for args, want := range map[string]string{
		"":                  `(?m)^exec:corre `,
		"-qu":               `^-quota:consultas al día [^\n]*\n$`,
		"-frozen --api":     `^--api-key:[^\n]*\n$`,
		"exec --jo":         `^--journal:cuántas [^\n]*\n$`,
		"exec -jo":          `^-journal:cuántas [^\n]*\n$`,
		"padron":            `(?m)^import:genera un índice del padrón$`,
		"padron generate -": `(?m)^-rows:`,
		"exec -- npm --":    `^$`,
	} {
		stdout, stderr, status := runProgram(t, nil, append(strings.Fields(args), "--generate-shell-completion")...)
		assert.Equal(t, 0, status, stderr)
		assert.Regexp(t, want, stdout, args)
	}
}

// The script for bash works without the package bash-completion.
func TestCompletionInABareBash(t *testing.T) {
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", `source <(fiscope-mock completion bash)
		COMP_WORDS=(fiscope-mock exec -jo) COMP_CWORD=2
		__fiscope-mock_bash_autocomplete && echo "${COMPREPLY[@]}"`)
	if cmd.Err != nil {
		t.Skip(cmd.Err)
	}
	cmd.Env = []string{"PATH=" + filepath.Dir(binary(t)) + string(os.PathListSeparator) + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, "-journal\n", string(out))
}
