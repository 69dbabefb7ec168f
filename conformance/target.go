package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// What the suite assumes of a target's data if [Target] does not say it. The mock server has this data.
const (
	DefaultRUC        = "20131312955" // a taxpayer that exists
	DefaultRUCMissing = "20999999999" // 11 digits that no taxpayer has
	DefaultSearch     = "S.A"         // a text with more than ten matches
	DefaultFecha      = "2024-01-17"  // a business day with a rate
)

// Target is the server to check, and what the suite may assume about it. It prints without its secrets.
type Target struct {
	BaseURL string // http or https, with the path before /api if there is one
	APIKey  string // unused by other programs while the suite runs

	RUC        string // of a taxpayer that exists; "" for DefaultRUC
	RUCMissing string // 11 digits that no taxpayer has; "" for DefaultRUCMissing
	Search     string // a text of 3 characters or more, with more than ten matches; "" for DefaultSearch
	Fecha      string // a business day with a rate, YYYY-MM-DD; "" for DefaultFecha

	// CPE has receipts and a secondary SOL user, from LoadCPE; nil skips what needs a clave.
	CPE *CPE
	// WrongClave sends exactly one complete validation with a wrong clave, for the user of CPE or for an invented one. The
	// tax authority may count it.
	WrongClave bool

	// Transport sends the requests; nil for the network. It must send nothing twice.
	Transport http.RoundTripper

	// Budget is the most requests that may be sent; 0 means no limit. A larger plan fails, and nothing is sent.
	Budget int
}

// Format implements [fmt.Formatter]: whatever the verb, the key and the clave are left out.
func (t Target) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "Target{ruc %s, search %q, fecha %s}", t.RUC, t.Search, t.Fecha)
}

var formOfKey = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)

// ready returns the target with its defaults filled in, or why it is invalid. No error shows the URL or the key.
func (t Target) ready() (Target, error) {
	t.BaseURL = strings.TrimRight(t.BaseURL, "/")
	t.RUC, t.RUCMissing = cmp.Or(t.RUC, DefaultRUC), cmp.Or(t.RUCMissing, DefaultRUCMissing)
	t.Search, t.Fecha = cmp.Or(t.Search, DefaultSearch), cmp.Or(t.Fecha, DefaultFecha)
	base, err := url.Parse(t.BaseURL)
	day, noDay := time.Parse(time.DateOnly, t.Fecha)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery+base.Fragment != "":
		return t, errors.New("-base-url, or FISCOPE_BASE_URL, takes scheme, host and path of http or https, such as http://127.0.0.1:8080")
	case !formOfKey.MatchString(t.APIKey):
		return t, errors.New("-api-key, or FISCOPE_API_KEY, takes what a header can carry: printable ASCII without blanks around it")
	case !formOfRUC.MatchString(t.RUC) || !formOfRUC.MatchString(t.RUCMissing):
		return t, errors.New("-ruc and -ruc-missing take 11 digits each")
	case t.RUC == t.RUCMissing:
		return t, errors.New("-ruc and -ruc-missing are the same: one exists and the other does not")
	case utf8.RuneCountInString(strings.TrimSpace(t.Search)) < 3 || !utf8.ValidString(t.Search):
		return t, errors.New("-search takes 3 characters or more, in UTF-8")
	case noDay != nil || day.Weekday() == time.Saturday || day.Weekday() == time.Sunday:
		return t, fmt.Errorf("-fecha is %q: want a business day such as %s", t.Fecha, DefaultFecha)
	case t.Budget < 0:
		return t, fmt.Errorf("-budget is %d: want 1 or more", t.Budget)
	case t.CPE != nil:
		if err := t.CPE.check(); err != nil {
			return t, fmt.Errorf("-cpe: %w", err)
		}
	}
	return t, nil
}

// patience is how long the suite waits for one answer, and in all for answers that do not come.
type patience struct{ request, all time.Duration }

// patience is short on loopback; elsewhere a validation may take several seconds (docs/contract.md, 4.3).
func (t Target) patience() patience {
	base, _ := url.Parse(t.BaseURL)
	if ip := net.ParseIP(base.Hostname()); strings.EqualFold(base.Hostname(), "localhost") || ip.IsLoopback() || ip.IsUnspecified() {
		return patience{1500 * time.Millisecond, 3500 * time.Millisecond}
	}
	return patience{30 * time.Second, 5 * time.Minute}
}
