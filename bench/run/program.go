package run

import (
	"context"
	"time"

	"penstock/bench/peer"
	"penstock/bench/result"
)

// playProgram has a subcommand of penbench print the figures.
func playProgram(ctx context.Context, s *series, _ int, _ peer.Peer) (result.Round, error) {
	const longest = 30 * time.Minute
	c, err := s.Stage.Start(ctx, append(append([]string(nil), s.Penbench...), s.c.Program...)...)
	if err != nil {
		return result.Round{}, err
	}
	defer c.End()
	var printed struct{ Figures map[string]float64 }
	err = c.Read(&printed, longest)
	return result.Round{Figures: printed.Figures}, err
}
