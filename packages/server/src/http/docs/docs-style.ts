export const DOCS_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre, textarea, input, output { font: 13px/1.45 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
details { border: 1px solid #8884; border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
pre, output { display: block; overflow: auto; max-height: 24rem; background: #8881; padding: .6rem; white-space: pre-wrap; }
output:empty { display: none; }
label { display: block; margin: .3rem 0; }
input, textarea { width: 100%; box-sizing: border-box; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
tr:target { background: #fd04; }
`;
