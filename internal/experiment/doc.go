// Package experiment repeats a trial and decides the next one: the points of a grid (Sweep), the largest load that still meets
// its goals (Search). It knows neither servers nor files: what a trial is comes from outside, and a trial on the simulator's
// virtual runner is as good as one on a machine.
package experiment
