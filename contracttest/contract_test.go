package contracttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
)

const document = "../openapi.yaml"

// schemaOptions make the validator's "date" a day of the calendar (its own pattern accepts 30 February)
// and its errors short: they would repeat the schema, and with it every field's name.
var schemaOptions = []openapi3.SchemaValidationOption{
	openapi3.WithStringFormatValidator("date", openapi3.NewCallbackValidator(func(s string) error {
		_, err := time.Parse(time.DateOnly, s)
		return err
	})),
	openapi3.DisableSchemaErrorDetails(),
}

// contract judges requests and answers by openapi.yaml.
type contract struct {
	doc    *openapi3.T
	router routers.Router
}

func loadContract(t *testing.T) *contract {
	t.Helper()
	return load(t, document)
}

func load(t *testing.T, name string) *contract {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	c, err := parseContract(raw)
	require.NoError(t, err)
	return c
}

// parseContract refuses a document that is not valid OpenAPI.
func parseContract(raw []byte) (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	// The router would match only the document's own server; ours listens on a port of its own.
	doc.Servers = nil
	// The document leaves objects open, for clients. Here a field that the contract does not know is
	// an error: programs developed against the mock would rely on it.
	for _, schema := range doc.Components.Schemas {
		if more := schema.Value.AdditionalProperties; schema.Value.Type.Is(openapi3.TypeObject) && more.Has == nil && more.Schema == nil {
			schema.Value.WithoutAdditionalProperties()
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	return &contract{doc: doc, router: router}, nil
}

// route finds the request's operation, whether or not the request is a valid one.
func (c *contract) route(req *http.Request) (*openapi3filter.RequestValidationInput, error) {
	route, params, err := c.router.FindRoute(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return &openapi3filter.RequestValidationInput{
		Request:    req,
		PathParams: params,
		Route:      route,
		Options: &openapi3filter.Options{
			MultiError:                        true,
			RejectWhenRequestBodyNotSpecified: true,
			SkipSettingDefaults:               true, // it judges a request, it does not complete it
			AuthenticationFunc:                hasAPIKey,
			SchemaValidationOptions:           schemaOptions,
		},
	}, nil
}

func hasAPIKey(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.RequestValidationInput.Request.Header.Get(in.SecurityScheme.Name) == "" {
		return fmt.Errorf("no %s header", in.SecurityScheme.Name)
	}
	return nil
}

func (c *contract) checkRequest(req *http.Request) error {
	input, err := c.route(req)
	if err != nil {
		return err
	}
	// OpenAPI does not forbid further query parameters, but a misspelt optional one is just that.
	for name := range req.URL.Query() {
		if input.Route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return fmt.Errorf("query parameter %q is not in the contract", name)
		}
	}
	return openapi3filter.ValidateRequest(req.Context(), input)
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// checkReply judges an answer by the operation that req belongs to.
func (c *contract) checkReply(req *http.Request, r reply) error {
	// The validator's decoder stops after the first JSON value; what follows it is garbage too.
	if !json.Valid(r.body) {
		return errors.New("the body is not one JSON value")
	}
	return c.checkAnswer(req, r)
}

// checkAnswer is checkReply for an answer that need not be JSON.
func (c *contract) checkAnswer(req *http.Request, r reply) error {
	input, err := c.route(req)
	if err != nil {
		return err
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 r.status,
		Header:                 r.header,
		Options: &openapi3filter.Options{
			MultiError:              true,
			IncludeResponseStatus:   true,
			SchemaValidationOptions: schemaOptions,
		},
	}
	return openapi3filter.ValidateResponse(req.Context(), answer.SetBodyBytes(r.body))
}

// row names an operation and a status, as one line of docs/contract.md, 7, does.
func (c *contract) row(t *testing.T, req *http.Request, status int) string {
	t.Helper()
	input, err := c.route(req)
	require.NoError(t, err)
	return fmt.Sprint(input.Route.Operation.OperationID, " ", status)
}

// documented lists the rows that the document names one by one; "default" is the undocumented rest.
func (c *contract) documented() []string {
	var rows []string
	for _, path := range c.doc.Paths.Map() {
		for _, operation := range path.Operations() {
			for status := range operation.Responses.Map() {
				if status != "default" {
					rows = append(rows, operation.OperationID+" "+status)
				}
			}
		}
	}
	return rows
}

// newRequest makes a request to the service at base. A body implies JSON.
func newRequest(t *testing.T, method, target, key, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("X-API-KEY", key)
	}
	return req
}
