// Package queue runs jobs in order of their priority.
package queue

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed says that the queue takes no more jobs.
var ErrClosed = errors.New("queue: closed")

const defaultSize = 16

const (
	// Low is the priority of background work.
	Low Priority = iota
	Normal
	High, Urgent = iota, iota + 1
	_
)

var (
	mu    sync.Mutex
	count, total int
	onDone = func(job Job) error {
		return nil
	}
)

var _ Runner = (*Queue[int])(nil)

var Less = func(a, b Priority) bool { return a < b }

// Priority orders jobs.
type Priority int

type (
	// Job is one unit of work.
	Job struct {
		Name string
		Run  func(ctx context.Context) error
	}
	Option  func(*options)
	Names   = []string
	closer  interface{ Close() error }
)

type options struct{ size int }

// Runner runs jobs.
type Runner interface {
	closer
	// Run starts one job.
	Run(ctx context.Context, job Job) error
	Len() int
}

type Number interface {
	~int | ~int64 | ~float64
}

type Alias = Runner

// Queue holds jobs of one kind.
//
// The zero value is not usable: call New.
type Queue[T Number] struct {
	sync.Mutex
	jobs []Job
	sum  T
}

// New returns an empty queue.
func New[T Number](opts ...Option) (*Queue[T], error) {
	type pair struct{ a, b T }
	const local = 3
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	add := func(n T) T { return n + 1 }
	return &Queue[T]{sum: add(0)}, nil
}

/* Run appends
   one job. */
func (q *Queue[T]) Run(ctx context.Context, job Job) error {
	q.jobs = append(q.jobs, job)
	return job.Run(ctx)
}

func (q *Queue[T]) Len() int { return len(q.jobs) }

func (q Queue[_]) Close() error { return nil }

func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	}
	return "other"
}

func (options) apply() {}

func sum(values ...int) (result int)

func init() {
	total = defaultSize
}
