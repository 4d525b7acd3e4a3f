#include "number_words.h"

#include "text.h"

static const char *const small[] = {
	"zero",	    "one",     "two",	  "three",     "four",	   "five",     "six",
	"seven",    "eight",   "nine",	  "ten",       "eleven",   "twelve",   "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
};

static const char *const tens[] = {
	"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
};

char *append_number_words(char *end, unsigned number)
{
	if (number >= 1000) {
		end = append(append_number_words(end, number / 1000), " thousand");
		number %= 1000;
		return number > 0 ? append_number_words(append(end, " "), number) : end;
	}
	if (number >= 100) {
		end = append(append(end, small[number / 100]), " hundred");
		number %= 100;
		return number > 0 ? append_number_words(append(end, " "), number) : end;
	}
	if (number < 20)
		return append(end, small[number]);
	end = append(end, tens[number / 10]);
	return number % 10 > 0 ? append(append(end, " "), small[number % 10]) : end;
}
