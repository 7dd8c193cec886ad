/* expr.c: a recursive-descent evaluator.
 *
 *   choice  = binary [ "?" choice ":" choice ]
 *   binary  = sign { operator sign }, with || && comparison + - * / % in rising rank
 *   sign    = ( "-" | "!" ) sign | primary
 *   primary = number | 'text' | name | "(" choice ")"
 */
#include "expr.h"

#include "error.h"
#include "text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 60

typedef enum {
    TOKEN_END, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_NAME, TOKEN_OR, TOKEN_AND, TOKEN_NOT,
    TOKEN_EQUAL, TOKEN_DIFFERENT, TOKEN_LESS, TOKEN_LESS_EQUAL, TOKEN_MORE, TOKEN_MORE_EQUAL,
    TOKEN_PLUS, TOKEN_MINUS, TOKEN_TIMES, TOKEN_DIVIDE, TOKEN_REST,
    TOKEN_OPEN, TOKEN_CLOSE, TOKEN_QUESTION, TOKEN_COLON
} TokenKind;

enum { NO_OPERATOR, RANK_OR, RANK_AND, RANK_COMPARE, RANK_SUM, RANK_PRODUCT };

typedef struct {
    TokenKind kind;
    int rank; /* of a binary operator */
    const char *start;
    size_t length;
} Token;

typedef struct {
    const char *source;
    const char *cursor;
    Token token; /* the first one that is not consumed yet */
    const Scope *scope;
    int depth;
    int skipping; /* > 0 inside an operand whose value is not needed */
} Parser;

static const struct {
    const char *text;
    TokenKind kind;
    int rank;
} signs[] = {
    /* The longer signs first. */
    { "==", TOKEN_EQUAL, RANK_COMPARE },      { "!=", TOKEN_DIFFERENT, RANK_COMPARE },
    { "<=", TOKEN_LESS_EQUAL, RANK_COMPARE }, { ">=", TOKEN_MORE_EQUAL, RANK_COMPARE },
    { "&&", TOKEN_AND, RANK_AND },            { "||", TOKEN_OR, RANK_OR },
    { "<", TOKEN_LESS, RANK_COMPARE },        { ">", TOKEN_MORE, RANK_COMPARE },
    { "+", TOKEN_PLUS, RANK_SUM },            { "-", TOKEN_MINUS, RANK_SUM },
    { "*", TOKEN_TIMES, RANK_PRODUCT },       { "/", TOKEN_DIVIDE, RANK_PRODUCT },
    { "%", TOKEN_REST, RANK_PRODUCT },        { "!", TOKEN_NOT, NO_OPERATOR },
    { "(", TOKEN_OPEN, NO_OPERATOR },         { ")", TOKEN_CLOSE, NO_OPERATOR },
    { "?", TOKEN_QUESTION, NO_OPERATOR },     { ":", TOKEN_COLON, NO_OPERATOR },
};

static Value parse_choice(Parser *parser);

static NO_RETURN void syntax_error(const Parser *parser, const char *wanted)
{
    die("expression: %s expected at column %zu", wanted,
        (size_t)(parser->token.start - parser->source) + 1);
}

Value text_value(const char *start, size_t length)
{
    Value value;

    value.kind = VALUE_TEXT;
    value.as.text.start = start;
    value.as.text.length = length;
    return value;
}

int value_is_true(Value value)
{
    return value.kind == VALUE_NUMBER ? value.as.number != 0.0 : value.as.text.length > 0;
}

/* Consumes the current token and finds the next one. */
static void next_token(Parser *parser)
{
    Token *token = &parser->token;
    const char *c = parser->cursor;
    char *end;
    size_t i;

    while (is_blank(*c))
        c++;
    token->start = c;
    token->rank = NO_OPERATOR;
    if (*c == '\0') {
        token->kind = TOKEN_END;
    } else if (isdigit((unsigned char)*c)) {
        token->kind = TOKEN_NUMBER;
        strtod(c, &end);
        c = end;
    } else if (isalpha((unsigned char)*c) || *c == '_') {
        token->kind = TOKEN_NAME;
        while (isalnum((unsigned char)*c) || *c == '_')
            c++;
    } else if (*c == '\'') {
        token->kind = TOKEN_TEXT;
        c = strchr(c + 1, '\'');
        if (c == NULL)
            syntax_error(parser, "closing quote");
        c++;
    } else {
        for (i = 0; i < ARRAY_COUNT(signs); i++) {
            if (strncmp(c, signs[i].text, strlen(signs[i].text)) == 0)
                break;
        }
        if (i == ARRAY_COUNT(signs))
            syntax_error(parser, "operator");
        token->kind = signs[i].kind;
        token->rank = signs[i].rank;
        c += strlen(signs[i].text);
    }
    token->length = (size_t)(c - token->start);
    parser->cursor = c;
}

static int accept(Parser *parser, TokenKind kind)
{
    if (parser->token.kind != kind)
        return 0;
    next_token(parser);
    return 1;
}

static int compare_texts(Value a, Value b)
{
    size_t length_a = a.as.text.length, length_b = b.as.text.length;
    size_t shorter = length_a < length_b ? length_a : length_b;
    int order = memcmp(a.as.text.start, b.as.text.start, shorter);

    return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

/* Applies an operator to two numbers, or a comparison to the order of two texts and 0. */
static double apply(TokenKind operator, double a, double b)
{
    switch (operator) {
    case TOKEN_EQUAL:
        return a == b;
    case TOKEN_DIFFERENT:
        return a != b;
    case TOKEN_LESS:
        return a < b;
    case TOKEN_LESS_EQUAL:
        return a <= b;
    case TOKEN_MORE:
        return a > b;
    case TOKEN_MORE_EQUAL:
        return a >= b;
    case TOKEN_PLUS:
        return a + b;
    case TOKEN_MINUS:
        return a - b;
    case TOKEN_TIMES:
        return a * b;
    case TOKEN_DIVIDE:
    case TOKEN_REST:
        if (b == 0.0)
            die("division by zero");
        return operator == TOKEN_DIVIDE ? a / b : fmod(a, b);
    default:
        INTERNAL_ERROR("operator without a meaning");
    }
}

static Value combine(const Parser *parser, const Token *operator, Value left, Value right)
{
    if (parser->skipping > 0)
        return number_value(0.0);
    if (operator->rank == RANK_COMPARE) {
        if (left.kind != right.kind)
            return number_value(operator->kind == TOKEN_DIFFERENT);
        if (left.kind == VALUE_TEXT)
            return number_value(apply(operator->kind, compare_texts(left, right), 0.0));
    }
    if (left.kind == VALUE_TEXT || right.kind == VALUE_TEXT)
        die("text cannot be used in a calculation");
    return number_value(apply(operator->kind, left.as.number, right.as.number));
}

static Value parse_primary(Parser *parser)
{
    Token token = parser->token;
    Value value = number_value(0.0);

    switch (token.kind) {
    case TOKEN_NUMBER:
        next_token(parser);
        return number_value(strtod(token.start, NULL));
    case TOKEN_TEXT:
        next_token(parser);
        return text_value(token.start + 1, token.length - 2);
    case TOKEN_NAME:
        next_token(parser);
        if (parser->scope == NULL
            || !parser->scope->lookup(token.start, token.length, parser->scope->context, &value))
            die("no value named '%.*s'", (int)token.length, token.start);
        return value;
    case TOKEN_OPEN:
        next_token(parser);
        value = parse_choice(parser);
        if (!accept(parser, TOKEN_CLOSE))
            syntax_error(parser, "')'");
        return value;
    default:
        syntax_error(parser, "value");
    }
}

static Value parse_sign(Parser *parser)
{
    Token operator = parser->token;
    Value value;

    if (++parser->depth > MAX_DEPTH)
        die("expression is nested too deeply");
    if (accept(parser, TOKEN_MINUS)) {
        value = combine(parser, &operator, number_value(0.0), parse_sign(parser));
    } else if (accept(parser, TOKEN_NOT)) {
        value = number_value(!value_is_true(parse_sign(parser)));
    } else {
        value = parse_primary(parser);
    }
    parser->depth--;
    return value;
}

/* Parses operators of the given rank and above. */
static Value parse_binary(Parser *parser, int rank)
{
    Value value = parse_sign(parser);
    Value right;
    Token operator;
    int decided;

    while (parser->token.rank >= rank) {
        operator = parser->token;
        next_token(parser);
        decided = (operator.kind == TOKEN_AND && !value_is_true(value))
            || (operator.kind == TOKEN_OR && value_is_true(value));
        parser->skipping += decided;
        right = parse_binary(parser, operator.rank + 1);
        parser->skipping -= decided;
        if (operator.kind == TOKEN_AND || operator.kind == TOKEN_OR)
            value = number_value(value_is_true(decided ? value : right));
        else
            value = combine(parser, &operator, value, right);
    }
    return value;
}

static Value parse_choice(Parser *parser)
{
    Value value = parse_binary(parser, RANK_OR);
    Value first, second;
    int truth;

    if (!accept(parser, TOKEN_QUESTION))
        return value;
    truth = value_is_true(value);
    parser->skipping += !truth;
    first = parse_choice(parser);
    parser->skipping += truth - !truth;
    if (!accept(parser, TOKEN_COLON))
        syntax_error(parser, "':'");
    second = parse_choice(parser);
    parser->skipping -= truth;
    return truth ? first : second;
}

Value evaluate(const char *source, const Scope *scope)
{
    Parser parser = { source, source, { TOKEN_END, NO_OPERATOR, source, 0 }, scope, 0, 0 };
    Value value;

    next_token(&parser);
    value = parse_choice(&parser);
    if (parser.token.kind != TOKEN_END)
        syntax_error(&parser, "end");
    if (value.kind == VALUE_NUMBER && !isfinite(value.as.number))
        die("result is too large");
    return value;
}
