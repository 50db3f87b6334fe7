package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

// Bounds of a token: long enough not to be guessed, and short enough that a
// wrong path is noticed.
const (
	leastToken = 16
	mostToken  = 1024
)

// token is the password of the interface, and the file it stands in.
type token struct {
	file string

	// hash is compared in place of the token itself: all are of one length,
	// and how far two of them agree says nothing about the token.
	hash atomic.Pointer[[sha256.Size]byte]
}

func readToken(file string) (*token, error) {
	t := &token{file: file}
	return t, t.reload()
}

// reload reads the file again. After an error the old token goes on.
func (t *token) reload() error {
	text, err := readSecret(t.file)
	if err != nil {
		return fmt.Errorf("-admin-token-file: %w", err)
	}
	hash := sha256.Sum256([]byte(text))
	t.hash.Store(&hash)
	return nil
}

// readSecret reads the one word of a token file.
func readSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 2*mostToken))
	if err != nil {
		return "", err
	}
	word := strings.TrimSpace(string(b))
	if len(word) < leastToken || len(word) > mostToken || strings.Trim(word, tokenRunes) != "" {
		return "", fmt.Errorf("%q: allowed is one token of %d to %d letters, digits or -._~+/=, such as that of: openssl rand -hex 32",
			file, leastToken, mostToken)
	}
	return word, nil
}

// tokenRunes is what a bearer token is made of (RFC 6750).
const tokenRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

// allows says whether a request shows the token.
func (t *token) allows(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(given)))
	same := subtle.ConstantTimeCompare(hash[:], t.hash.Load()[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}
