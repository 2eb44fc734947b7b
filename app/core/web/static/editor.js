// Licences of the packages in this bundle: editor/licences.txt
import{ea as a}from"./editor/chunk-GPEYECQJ.js";export{a as createEditor};
