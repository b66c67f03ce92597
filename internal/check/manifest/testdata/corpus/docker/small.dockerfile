# want: nothing
FROM scratch
COPY x /x
