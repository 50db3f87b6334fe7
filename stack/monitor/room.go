package monitor

// most is how many checks may exist at the same moment; share is how many of
// them may be of the well, and how many of the doubtful.
const (
	most  = 64
	share = 48
)

// room says whose check may begin. First come first served, among the well
// and among the doubtful.
type room struct {
	running [2]int
	waiting [2][]*target
}

func (r *room) ask(t *target) {
	t.queued = true
	t.class = 0
	if t.state.Doubtful() {
		t.class = 1
	}
	r.waiting[t.class] = append(r.waiting[t.class], t)
}

// next takes out somebody whose check may begin now; nil if nobody may.
func (r *room) next() *target {
	for class := range r.waiting {
		for len(r.waiting[class]) > 0 && r.running[0]+r.running[1] < most && r.running[class] < share {
			t := r.waiting[class][0]
			r.waiting[class] = r.waiting[class][1:]
			t.queued = false
			if !t.gone {
				r.running[class]++
				return t
			}
		}
	}
	return nil
}

func (r *room) leave(t *target) { r.running[t.class]-- }
