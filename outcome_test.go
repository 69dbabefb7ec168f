package fiscope

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/batch"
)

// Zero is a fair value of every column, so a forgotten one is seen by what the columns say of each other.
func TestTheTableOfOutcomesHasNoGaps(t *testing.T) {
	for o := found; o < lastOutcome; o++ {
		row, local, away := outcomes[o], o >= misused, outcomes[o].away != answered
		assert.Equal(t, row.class == nil, o == found || o == brokeOff, "%d: only a result and a panic have no class", o)
		assert.Equal(t, away || local, row.avoided != avoidedNot, "%d: a call without an attempt has a reason", o)
		assert.True(t, row.away == unusable || row.retry == retryNever, "%d: only a service that is away is asked again", o)
		assert.Equal(t, row.texto == textoDeMalUso, row.status == 500, "%d: a call that is wrong is the program's fault", o)
		assert.True(t, row.level >= slog.LevelWarn || row.level == slog.LevelDebug && !away, "%d: an outage is not the caller's doing", o)
		assert.False(t, row.verdict == batch.Answered && away, "%d: a service that is away gave no answer", o)
		if row.class != nil {
			class := classOf(newError(o, ""))
			assert.Equal(t, row.class, class.of, "%d", o)
			assert.NotEmpty(t, class.word, "%d", o)
			assert.NotEmpty(t, class.texto, "%d", o)
			assert.GreaterOrEqual(t, class.status, 400, "%d", o)
		}
	}
}
