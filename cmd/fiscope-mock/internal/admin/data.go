package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

func (a *api) getData(*http.Request) (any, error) {
	var b strings.Builder
	if err := a.Mock.Data().Write(&b); err != nil {
		return nil, err
	}
	return document{"application/json", b.String()}, nil
}

func (a *api) putData(r *http.Request) (any, error) {
	d, err := mockserver.ReadData(http.MaxBytesReader(nil, r.Body, bodyMost), "cuerpo")
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &problem{http.StatusRequestEntityTooLarge, codeTooLarge, "los datos son demasiados para una petición", "repártalos en varias, o inicie el servidor con -data"}
	}
	if err != nil {
		return nil, err
	}
	return nil, a.Mock.PutData(d)
}

func (a *api) deleteData(*http.Request) (any, error) {
	return nil, a.Mock.Reset(mockserver.PartData)
}
