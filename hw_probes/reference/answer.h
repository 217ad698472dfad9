/* What every reference program shares: the lines of `exec:` (tcformal/devices/protocol.py).
 *
 * A program includes this file after defining DEVICE and SOURCE (who it is, and where its arithmetic comes from),
 * and defines `choose`, which takes the instruction (the unit's name after the slash, without altered parameters)
 * and the formats, as `a,b,c,d`, and returns the function that computes one dot product; NULL where it has none.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PRODUCTS = 4096, LONGEST_LINE = 1 << 17 };

/* One dot product of k terms: raw encodings in, one out. */
typedef uint64_t (*Dot)(int k, const uint64_t *a, const uint64_t *b, uint64_t c);

static Dot choose(const char *instruction, const char *formats, int k);

/* The text after `"key":` in a line, or NULL. */
static const char *after(const char *line, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

/* A text value copied into `to`; empty where there is none. */
static void text_of(const char *line, const char *key, char *to, size_t size) {
    const char *at = line ? after(line, key) : NULL;
    size_t n = 0;
    if (at && (at = strchr(at, '"')))
        for (at++; *at && *at != '"' && n + 1 < size; at++) to[n++] = *at;
    to[n] = 0;
}

/* The encodings in `"key": ["0x…", …]`, and how many there are. */
static int words_of(const char *line, const char *key, uint64_t *to) {
    const char *at = after(line, key);
    int n = 0;
    for (; at && *at && *at != ']' && n < MOST_PRODUCTS; at++)
        if (*at == '0' && at[1] == 'x') {
            char *end;
            to[n++] = strtoull(at, &end, 16);
            at = end - 1;
        }
    return n;
}

static int refuse(const char *why) {
    printf("{\"error\": \"%s\"}\n", why);
    return fflush(stdout);
}

int main(void) {
    static char line[LONGEST_LINE];
    static uint64_t a[MOST_PRODUCTS], b[MOST_PRODUCTS];
    char unit[1024], formats[128], one[4][32];
    Dot dot = NULL;
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"protocol\"")) {
            const char *at = after(line, "k"), *described = after(line, "formats");
            int k = at ? atoi(at) : 0;
            text_of(line, "unit", unit, sizeof unit);
            for (int i = 0; i < 4; i++) text_of(described, (const char *[]){"a", "b", "c", "d"}[i], one[i], 32);
            snprintf(formats, sizeof formats, "%s,%s,%s,%s", one[0], one[1], one[2], one[3]);
            char *name = strchr(unit, '/'), *altered;
            name = name ? name + 1 : unit;
            if ((altered = strchr(name, '@'))) *altered = 0;
            if (!(dot = choose(name, formats, k))) return refuse("no such instruction here");
            printf("{\"device\": \"%s\", \"instruction\": \"%s\", \"source\": \"%s\", \"evidence\": \"reference\"}\n",
                   DEVICE, name, SOURCE);
        } else {
            const char *id = after(line, "id"), *c = after(line, "c");
            int k = words_of(line, "a", a);
            if (!id || !c || words_of(line, "b", b) != k || !dot) return refuse("no dot product that can be read");
            uint64_t word = strtoull(strchr(c, '"') + 1, NULL, 16);
            printf("{\"id\": %ld, \"d\": \"0x%" PRIx64 "\"}\n", atol(id), dot(k, a, b, word));
        }
        /* The next line may not come before this answer does. */
        fflush(stdout);
    }
    return 0;
}
