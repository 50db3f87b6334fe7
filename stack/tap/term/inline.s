// Functions without a body in inline.go are netstack's.
