package fiscope

import "context"

type Progress interface {
	Done(ctx context.Context, input string) (bool, error)
	Record(ctx context.Context, input string) error
}
