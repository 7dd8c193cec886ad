/* 44.1-added.c: an elevator, and a driver that sets it up and sends it to a floor. */
#include <stdio.h>
#include <stdlib.h>

#define UP 1
#define DOWN 2

typedef int Direction;

struct elevator {
    int current_floor;
    Direction current_direction;
    int top_floor;
    int bottom_floor;
};

static void elevator_up(struct elevator *e)
{
    e->current_direction = UP;                          /* S19 */
}

static void elevator_down(struct elevator *e)
{
    e->current_direction = DOWN;                        /* S23 */
}

static void elevator_add(int *a, int b)
{
    *a = *a + b;                                        /* S58 */
}

static int elevator_valid_floor(const struct elevator *e, int floor)
{
    if (floor > e->top_floor || floor < e->bottom_floor) /* P62 */
        return 0;                                       /* S64 */
    return 1;                                           /* S65 */
}

static void elevator_go(struct elevator *e, int floor)
{
    if (!elevator_valid_floor(e, floor)) {              /* P32 */
        printf("Invalid floor request\n");              /* S33 */
        return;                                         /* S34 */
    }
    if (floor > e->current_floor) {                     /* P36 */
        elevator_up(e);                                 /* S37 */
        printf("Elevator is going up\n");               /* S38 */
    } else if (floor < e->current_floor) {              /* P40 */
        elevator_down(e);                               /* S41 */
        printf("Elevator is going down\n");             /* S42 */
    } else {
        printf("Elevator is there\n");                  /* S44.1 */
        return;                                         /* S45 */
    }
    if (e->current_direction == UP) {                   /* P46 */
        while (e->current_floor != floor)               /* P47 */
            elevator_add(&e->current_floor, 1);         /* S49 */
    } else {
        while (e->current_floor != floor)               /* P51 */
            elevator_add(&e->current_floor, -1);        /* S53 */
    }
}

int main(int argc, char **argv)
{
    struct elevator e = {0, UP, 0, 0};                  /* S75 */
    (void)argc;                                         /* S76 */
    e.top_floor = atoi(argv[1]);                        /* S77 */
    e.bottom_floor = atoi(argv[2]);                     /* S78 */
    e.current_floor = atoi(argv[3]);                    /* S79 */
    elevator_go(&e, atoi(argv[4]));                     /* S80 */
    printf("%d\n", e.current_floor);                    /* S81 */
    return 0;                                           /* S82 */
}
