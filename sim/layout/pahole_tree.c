/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout/pahole_tree.h"
#include "layout/pahole_token.h"
#include <stdlib.h>
#include <string.h>

enum {
	CUT_ROUNDING = 64,
	LOOK_AHEAD = 2048 /* bytes */
};

/* A declaration, as far as it is read: from after `;`, `{` or `}` to the next of them. */
struct declaration {
	struct token tag;          /* the word after struct, union or class */
	struct token name, before; /* the word that may be its name; and that just before it */
	struct token previous;     /* token */
	struct token earlier;      /* the one before that */
	uint32_t body;             /* the struct that the } before it has closed, or 0 */
	uint32_t line;             /* of its start; 0: nothing is read yet */
	uint32_t depth;            /* of parentheses and brackets */
	uint32_t align, elements, bits;
	bool is_compound, is_union, is_enum;
	bool named;    /* the name is certain */
	bool function; /* a pointer to one if `pointer`, else itself */
	bool pointer, array, packed, is_typedef, passed_over;
	bool to_body;   /* is a pointer to the struct that the } before it has closed */
	bool stray_end; /* the } before it closes nothing that is there */
};

struct parser {
	struct pahole *pahole;
	struct token_reader reader;
	struct declaration declaration;
	struct declaration ended; /* the one before the last `;`, until its comment comes */
	bool pending;             /* it may still come */
	uint32_t top, depth;      /* the struct that is open, and in how many */
	struct error *error;
};

static bool is_character(const struct token *token, char c)
{
	return token->kind == TOKEN_OTHER && *token->text == c;
}

static struct pahole_node *node_of(const struct parser *parser, uint32_t id)
{
	return &parser->pahole->nodes[id];
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Returns its number, or 0 with *error set. */
static uint32_t node_add(struct parser *parser, uint32_t line)
{
	struct pahole *pahole = parser->pahole;
	uint32_t capacity = pahole->capacity ? 2 * pahole->capacity : 64;
	struct pahole_node *nodes = pahole->nodes;

	if (pahole->count == PAHOLE_NODE_LIMIT)
		return error_at(parser->error, pahole->name, line, 1,
				"over %d members, expected fewer", PAHOLE_NODE_LIMIT);
	if (pahole->count + 1 >= pahole->capacity) {
		nodes = reallocarray(nodes, capacity, sizeof(*nodes));
		if (!nodes)
			return error_set(parser->error, "out of memory");
		pahole->nodes = nodes;
		pahole->capacity = capacity;
	}
	nodes[++pahole->count] = (struct pahole_node){ .line = line, .elements = 1 };
	return pahole->count;
}

/* Ends the word where it stands: what comes after it is read already. */
static const char *word_keep(const struct token *token)
{
	if (token->kind != TOKEN_WORD)
		return NULL;
	token->text[token->length] = '\0';
	return token->text;
}

static void node_link(struct parser *parser, uint32_t id)
{
	struct pahole_node *node = node_of(parser, id), *parent = node_of(parser, node->parent);

	if (parent->last)
		node_of(parser, parent->last)->next = id;
	else
		parent->first = id;
	parent->last = id;
	if (node->end > parent->end)
		parent->end = node->end;
	if (!node->bits && !parent->is_union && node->end > parent->floor)
		parent->floor = node->end;
}

/* ---- structs -------------------------------------------------------------------------------- */

static bool struct_open(struct parser *parser, const struct declaration *head, uint32_t line)
{
	uint32_t id = node_add(parser, line);
	struct pahole_node *node;

	if (!id)
		return false;
	node = node_of(parser, id);
	node->type = word_keep(&head->tag);
	node->compound = true;
	node->is_union = head->is_union;
	node->packed = head->packed;
	node->align = head->align;
	node->parent = parser->top;
	node->floor = parser->top ? node_of(parser, parser->top)->floor : 0;
	parser->top = id;
	if (++parser->depth > PAHOLE_DEPTH)
		return error_at(parser->error, parser->pahole->name, line, 1,
				"structs nested more than %d deep", PAHOLE_DEPTH);
	return true;
}

static bool excerpt_open(struct parser *parser, uint32_t line)
{
	if (!struct_open(parser, &(struct declaration){ 0 }, line))
		return false;
	node_of(parser, parser->top)->excerpt = true;
	return true;
}

/* What has no parent is a struct of its own, if it has members. */
static bool root_add(struct parser *parser, uint32_t id)
{
	struct pahole *pahole = parser->pahole;
	struct pahole_node *node = node_of(parser, id);
	uint32_t *roots;

	if (!node->first && !node->bare)
		return true;
	if (node->closed && node->is_union) {
		node->size = node->sized ? node->size : node->end; /* is not always printed */
	} else if (!node->sized) {
		node->size = (node->end + CUT_ROUNDING - 1) / CUT_ROUNDING * CUT_ROUNDING;
		node->closed = false;
	}
	roots = reallocarray(pahole->roots, pahole->root_count + 1, sizeof(*roots));
	if (!roots)
		return error_set(parser->error, "out of memory");
	pahole->roots = roots;
	roots[pahole->root_count++] = id;
	return true;
}

/* Closes the innermost struct. What is nested is linked when its place is known. */
static bool struct_close(struct parser *parser, bool end_is_there)
{
	struct pahole_node *node = node_of(parser, parser->top);
	uint32_t id = parser->top;

	parser->top = node->parent;
	parser->depth--;
	node->closed = end_is_there;
	return node->parent || root_add(parser, id);
}

/* Links a nested struct whose end says nothing of its place. */
static void link_unplaced(struct parser *parser, uint32_t id)
{
	struct pahole_node *node = node_of(parser, id);

	if (node->first) {
		const struct pahole_node *first = node_of(parser, node->first);

		node->placed = first->placed;
		node->offset = first->offset;
		node->size = node->end - node->offset;
	}
	node_link(parser, id);
}

/* The ends of all structs from `id` outwards are missing. */
static bool structs_abandon(struct parser *parser, uint32_t id)
{
	bool good = true;

	for (parser->top = id; parser->top && good;) {
		uint32_t inner = parser->top;

		good = struct_close(parser, false);
		if (parser->top)
			link_unplaced(parser, inner);
	}
	parser->depth = 0;
	return good;
}

/* Offsets do not fall within a struct: another has begun, with those heads that have no members yet. */
static bool struct_begins_anew(struct parser *parser)
{
	uint32_t outer = parser->top, innermost = parser->top, heads = 0, begins = 0;

	while (outer && !node_of(parser, outer)->first) {
		begins = outer;
		outer = node_of(parser, outer)->parent;
		heads++;
	}
	if (!structs_abandon(parser, outer))
		return false;
	if (!begins)
		return true;
	if (!node_of(parser, begins)->type && !excerpt_open(parser, node_of(parser, begins)->line))
		return false;
	node_of(parser, begins)->parent = parser->top;
	for (uint32_t id = innermost; id; id = node_of(parser, id)->parent)
		node_of(parser, id)->floor = 0;
	parser->top = innermost;
	parser->depth += heads;
	return true;
}

/* ---- members -------------------------------------------------------------------------------- */

/* A bit-field's unit may begin before the member before it ends. */
static bool is_below(const struct pahole_node *node, uint32_t floor)
{
	return node->placed && (node->bits ? node->offset + node->size <= floor && node->size
					   : node->offset < floor);
}

/* Makes room for a member: in the struct that is open, in one that begins here, or in an excerpt. */
static bool place_find(struct parser *parser, const struct pahole_node *member)
{
	if (parser->top && is_below(member, node_of(parser, parser->top)->floor) &&
	    !struct_begins_anew(parser))
		return false;
	return parser->top || excerpt_open(parser, member->line);
}

static void bit_order_note(struct parser *parser, const struct pahole_node *member)
{
	uint32_t id = parser->top, last = node_of(parser, id)->last;
	const struct pahole_node *before = node_of(parser, last);

	if (!last || !member->bits || !before->bits || before->offset != member->offset ||
	    before->size != member->size || before->position <= member->position)
		return;
	for (; id; id = node_of(parser, id)->parent)
		node_of(parser, id)->falling = true;
}

static void member_fill(const struct declaration *from, struct pahole_node *node)
{
	node->name = word_keep(&from->name);
	node->align = from->align > node->align ? from->align : node->align;
	node->packed |= from->packed;
	node->elements = from->array ? from->elements : 1;
	if (from->array || from->to_body) {
		node->compound = false;
		node->type = NULL;
	}
	node->bits = from->bits;
	if (!node->compound && !from->array && !from->bits && !from->function)
		node->type = word_keep(&from->before);
}

/* Of a pointer to a struct without a name, which is printed with its members, these are no members of the
 * struct around it. Passes over them where the struct that has begun is such a one. */
static bool pointed_to_pass(struct parser *parser)
{
	const struct pahole_node *node = node_of(parser, parser->top);
	struct token_reader ahead = parser->reader;
	uint32_t braces = 1;
	struct token token;

	if (node->type || node->first || !node->parent)
		return false;
	do {
		token = token_next(&ahead);
		if (token.kind == TOKEN_END || ahead.next - parser->reader.next > LOOK_AHEAD)
			return false;
		braces += is_character(&token, '{');
		braces -= is_character(&token, '}');
	} while (braces);
	token = token_next(&ahead);
	if (!is_character(&token, '*'))
		return false;
	parser->reader = ahead;
	parser->declaration = (struct declaration){ .previous = token, .line = token.line };
	parser->top = node->parent;
	parser->depth--;
	return true;
}

/* A declaration with the numbers behind it: offset and size, or offset, position and size; in
 * unions once the size alone. */
static bool member_add(struct parser *parser, const struct declaration *from,
		       const uint64_t *numbers, unsigned count)
{
	struct pahole_node node = { .line = from->line, .elements = 1 };
	uint32_t id = from->body;

	if (id && !node_of(parser, id)->parent)
		return true; /* the end of the outermost struct, and a number after it */
	if (id)
		node = *node_of(parser, id);
	member_fill(from, &node);
	node.placed = count > 1;
	node.offset = count > 1 ? (uint32_t)numbers[0] : 0;
	node.position = count > 2 ? (uint32_t)numbers[1] : 0;
	node.size = (uint32_t)numbers[count - 1];
	node.sized = true;
	if (count < 3)
		node.bits = 0;
	if (node.placed)
		node.end = node.offset + node.size;
	if (!id && parser->top && is_below(&node, node_of(parser, parser->top)->floor) &&
	    pointed_to_pass(parser))
		return true;
	if (!id && (!place_find(parser, &node) || !(id = node_add(parser, from->line))))
		return false;
	node.parent = parser->top;
	bit_order_note(parser, &node);
	*node_of(parser, id) = node;
	node_link(parser, id);
	return true;
}

/* The comment that a declaration waits for has not come. */
static bool ended_without_offset(struct parser *parser)
{
	const struct declaration *ended = &parser->ended;

	if (!parser->pending)
		return true;
	parser->pending = false;
	if (ended->body && node_of(parser, ended->body)->parent)
		link_unplaced(parser, ended->body);
	else if (!ended->body && parser->top && ended->name.kind == TOKEN_WORD &&
		 !ended->passed_over && !ended->is_typedef &&
		 (!ended->function || ended->pointer) && !node_of(parser, parser->top)->bare)
		node_of(parser, parser->top)->bare = ended->line;
	return true;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool comment_take(struct parser *parser, const struct token *comment)
{
	struct token_reader reader = { comment->text, comment->text + comment->length, 1 };
	struct token size = token_next(&reader), colon = token_next(&reader),
		     number = token_next(&reader);
	uint64_t numbers[3];
	unsigned count = comment_numbers(comment, numbers, 3);

	if (parser->pending && count > 1 && parser->ended.stray_end &&
	    parser->ended.name.kind == TOKEN_WORD)
		node_of(parser, parser->top)->bare = parser->ended.line;
	if (parser->pending && count && !parser->ended.stray_end &&
	    (count > 1 || (parser->top && node_of(parser, parser->top)->is_union))) {
		parser->pending = false;
		return member_add(parser, &parser->ended, numbers, count);
	}
	if (parser->top && !node_of(parser, parser->top)->parent && token_is(&size, "size") &&
	    is_character(&colon, ':') && number.kind == TOKEN_NUMBER) {
		node_of(parser, parser->top)->size = (uint32_t)number.number;
		node_of(parser, parser->top)->sized = true;
	}
	return true;
}

static bool is_compound_word(const struct token *token)
{
	return token_is(token, "struct") || token_is(token, "union") || token_is(token, "class");
}

static void word_take(struct declaration *declaration, const struct token *word)
{
	const struct token *previous = &declaration->previous;
	bool outside = !declaration->depth;

	if (outside && is_compound_word(previous) && !token_is(word, "__attribute__")) {
		declaration->tag = *word; /* even "class" */
	} else if (outside && is_compound_word(word)) {
		declaration->is_compound = true;
		declaration->is_union = token_is(word, "union");
		declaration->is_enum = false;
		declaration->tag = (struct token){ 0 };
	}
	declaration->is_enum |= outside && token_is(word, "enum");
	declaration->is_typedef |= outside && token_is(word, "typedef");
	declaration->passed_over |= outside && token_is(word, "static");
	declaration->packed |= token_is(word, "__packed__") || token_is(word, "packed");
	if (declaration->named || token_is(word, "__attribute__") ||
	    (!outside && (token_is(word, "const") || token_is(word, "volatile"))))
		return;
	if (outside || (declaration->pointer && declaration->function)) {
		declaration->before =
			previous->kind == TOKEN_WORD ? declaration->name : (struct token){ 0 };
		declaration->name = *word;
		declaration->named = !outside;
	}
}

static void number_take(struct declaration *declaration, const struct token *number)
{
	const struct token *previous = &declaration->previous;

	if (is_character(previous, '[') && declaration->array) {
		uint64_t elements = declaration->elements * number->number;

		declaration->elements =
			elements < TOKEN_NUMBER_MOST ? (uint32_t)elements : TOKEN_NUMBER_MOST;
	} else if (is_character(previous, ':') && !declaration->depth) {
		declaration->bits = (uint32_t)number->number;
		declaration->named = true;
		/* "u64 :13" has no name. */
		declaration->passed_over |= previous->spaced || !number->number;
	} else if (is_character(previous, '(') && declaration->align == 1 &&
		   declaration->depth > 1) {
		declaration->align = (uint32_t)number->number;
	}
}

static void other_take(struct declaration *declaration, const struct token *token)
{
	char c = *token->text;
	const struct token *previous = &declaration->previous;

	if (c == '(') {
		bool attribute = token_is(previous, "__attribute__") || declaration->depth;

		if (token_is(previous, "__aligned__") || token_is(previous, "aligned"))
			declaration->align = 1; /* the number follows */
		else if (!attribute)
			declaration->function = true;
	}
	if (c == '*' && is_character(previous, '(') && declaration->function &&
	    declaration->depth == 1 && !declaration->named)
		declaration->pointer = true;
	declaration->to_body |= c == '*' && declaration->body && !declaration->depth;
	if (c == '[' && (!declaration->depth || declaration->pointer)) {
		if (!declaration->array)
			declaration->elements = 1;
		declaration->array |= !declaration->depth && !declaration->function;
		declaration->named |= !declaration->depth;
	}
	if (c == ')' && declaration->function && !declaration->pointer)
		declaration->named = true;
	if (c == '(' || c == '[')
		declaration->depth++;
	if ((c == ')' || c == ']') && declaration->depth)
		declaration->depth--;
}

/* Up to the end of an enumeration; what follows is declared with it. */
static void enumerators_skip(struct parser *parser)
{
	struct token token;

	do
		token = token_next(&parser->reader);
	while (token.kind != TOKEN_END && !is_character(&token, '}') && !is_character(&token, ';'));
	parser->declaration.name = (struct token){ 0 };
}

/* Only what has a name, or will have one after its end, stands for itself. */
static bool head_take(struct parser *parser, const struct declaration *head, uint32_t line)
{
	if (!parser->top && head->tag.kind != TOKEN_WORD && !head->is_typedef &&
	    !excerpt_open(parser, line))
		return false;
	return struct_open(parser, head, line);
}

/* "struct NAME {" begins one whatever prose is before it. */
static void head_after_prose(struct declaration *head)
{
	if (!is_compound_word(&head->earlier) || head->previous.kind != TOKEN_WORD)
		return;
	head->is_compound = true;
	head->is_union = token_is(&head->earlier, "union");
	head->is_enum = head->function = false;
	head->tag = head->previous;
}

static bool brace_open(struct parser *parser, const struct token *token)
{
	struct declaration head = parser->declaration;

	head_after_prose(&head);
	if (head.is_enum) {
		enumerators_skip(parser);
		return true;
	}
	parser->declaration = (struct declaration){ 0 };
	if (head.is_compound && !head.function)
		return head_take(parser, &head, token->line);
	return structs_abandon(parser, parser->top); /* code: no struct has any in it */
}

/* A struct may end in an excerpt that began before it. */
static bool brace_close(struct parser *parser, const struct token *token)
{
	uint32_t closed = parser->top;
	const struct pahole_node *node = node_of(parser, closed);
	bool stray = closed && node->excerpt && !node->sized;

	parser->declaration = (struct declaration){ .body = stray ? 0 : closed,
						    .line = token->line,
						    .stray_end = stray };
	return !closed || stray || struct_close(parser, true);
}

static void declaration_end(struct parser *parser)
{
	struct declaration *declaration = &parser->declaration;
	struct pahole_node *body = node_of(parser, declaration->body);

	if (declaration->body && !body->parent && !body->excerpt) {
		body->packed |= declaration->packed;
		if (declaration->align > body->align)
			body->align = declaration->align;
		if (!body->type)
			body->type = word_keep(&declaration->name);
	}
	parser->ended = *declaration;
	parser->pending = declaration->line != 0;
	*declaration = (struct declaration){ 0 };
}

static bool token_take(struct parser *parser, const struct token *token)
{
	struct declaration *declaration = &parser->declaration;

	if (token->kind == TOKEN_COMMENT)
		return comment_take(parser, token);
	if (!ended_without_offset(parser))
		return false;
	if (is_character(token, '{'))
		return brace_open(parser, token);
	if (is_character(token, '}'))
		return brace_close(parser, token);
	if (is_character(token, ';')) {
		declaration_end(parser);
		return true;
	}
	/* pahole prints <ERROR for what it does not know, as C11's _Atomic. */
	if (token_is(token, "ERROR") && is_character(&declaration->previous, '<'))
		node_of(parser, parser->top)->bare = token->line;
	if (!declaration->line)
		declaration->line = token->line;
	if (token->kind == TOKEN_WORD)
		word_take(declaration, token);
	else if (token->kind == TOKEN_NUMBER)
		number_take(declaration, token);
	else
		other_take(declaration, token);
	declaration->earlier = declaration->previous;
	declaration->previous = *token;
	return true;
}

bool pahole_tree_read(struct pahole *pahole, size_t length, struct error *error)
{
	struct parser parser = { .pahole = pahole,
				 .reader = token_start(pahole->text, length),
				 .error = error };

	for (;;) {
		struct token token = token_next(&parser.reader);

		if (token.kind == TOKEN_END)
			return ended_without_offset(&parser) &&
			       structs_abandon(&parser, parser.top);
		if (!token_take(&parser, &token))
			return false;
	}
}
