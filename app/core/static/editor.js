// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-ZPHQL7PS.js";export{a as createEditor};
