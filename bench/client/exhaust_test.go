package client

const starving = "PENBENCH_TEST_STARVE"

func starve() int { return 0 }
