package plan

import (
	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// trace leaves the due times that the data set gave.
func trace([]bench.Request, *bench.Spec, dataset.Streams) {}
