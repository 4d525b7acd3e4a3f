/* Numbers in English words, as SQLite's speed test fills its text columns. */
#ifndef COMMITPATH_NUMBER_WORDS_H
#define COMMITPATH_NUMBER_WORDS_H

/* Bytes that the words of a number below a million need, with the NUL. */
enum { MAX_NUMBER_WORDS = 80 };

/* "thirteen thousand one hundred fifty three" for 13153, below a million.
 * Writes at `end`; returns the end of the text. */
char *append_number_words(char *end, unsigned number);

#endif
